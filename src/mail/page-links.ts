/** Links to an application's hosted pages, as mails have them. */

/** @param baseUrl this server's public URL, without a trailing slash. @param email that the page fills in. */
export function signInLink(baseUrl: string, clientId: string, email?: string): string {
  return `${baseUrl}/sign-in?${new URLSearchParams({ clientId, ...(email !== undefined && { email }) })}`;
}

/** @param part of the account page. */
export function accountLink(baseUrl: string, clientId: string, part: string): string {
  return `${baseUrl}/account/${part}?${new URLSearchParams({ clientId })}`;
}
