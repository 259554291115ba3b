/** Ends the session of whoever is signed in, and shows the sign-in. */
export async function signOut(): Promise<void> {
  // Where the server does not answer, that is shown rather than nothing.
  await fetch('/account/session', { method: 'DELETE' }).catch(() => null);
  location.assign('/console');
}
