/** Ends the current session and shows the sign-in page. */
export async function signOut(): Promise<void> {
  // If the server does not respond, the navigation shows that.
  await fetch('/account/session', { method: 'DELETE' }).catch(() => null);
  location.assign('/console');
}
