// Who is signed in, and what that key may do.

const ROLE_ORDER = ["read", "write", "admin"];

/** Whether the role of a key suffices. What it does not allow is not offered. */
export function may(me, role) {
  return ROLE_ORDER.indexOf(me.role) >= ROLE_ORDER.indexOf(role);
}

/** How callers of this stack prove who they are: `keys`, `jwt` or `iam`. */
export function authMode() {
  return document.querySelector('meta[name="sweephand-auth"]').content;
}
