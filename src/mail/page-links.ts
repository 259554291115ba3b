/** Links to an application's hosted pages, as mails have them. */

/** @param baseUrl this server's public URL, without a trailing slash. */
export function signInLink(baseUrl: string, clientId: string): string {
  return `${baseUrl}/sign-in?${new URLSearchParams({ clientId })}`;
}

/** @param part of the account page. */
export function accountLink(baseUrl: string, clientId: string, part: string): string {
  return `${baseUrl}/account/${part}?${new URLSearchParams({ clientId })}`;
}
