"""A project of Django, of which there is one in a process."""

from typing import Any

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler

urlpatterns: list[Any] = []


def application(patterns: list[Any]) -> WSGIHandler:
    """The project as an application of WSGI, with these patterns in place of former ones."""
    if not settings.configured:
        settings.configure(
            ROOT_URLCONF=__name__,
            ALLOWED_HOSTS=["*"],
            MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"],
        )
        django.setup()
    urlpatterns[:] = patterns
    return WSGIHandler()
