"""Connects a receiver with Django.

urlpatterns = [path("sweephand", view(receiver))]
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from sweephand_client.receive.receiver import Receiver


def view(receiver: Receiver) -> Callable[[HttpRequest], HttpResponse]:
    """A view that answers deliveries. A signature proves them, so they need no token against CSRF."""

    def receive(request: HttpRequest) -> HttpResponse:
        status, headers, body = receiver.respond(request.headers, request.body)
        return HttpResponse(body, status=status, headers=dict(headers))

    exempt: Callable[[HttpRequest], HttpResponse] = csrf_exempt(receive)
    return exempt
