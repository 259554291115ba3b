interface Endpoint {
  readonly url: string;
  readonly description: string | null;
}

/** Returns the name that a webhook endpoint is listed under: its description, else its URL without the query. */
export function endpointName({ url, description }: Endpoint): string {
  if (description) return description;
  const { host, pathname } = new URL(url);
  return pathname === '/' ? host : host + pathname;
}
