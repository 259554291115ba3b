/** An application's own site, to which people return after they have signed in. */

export interface Shop {
  /** Its origin. */
  readonly url: string;
  /** Addresses requested from its server, oldest first. */
  readonly visits: string[];
  stop(): Promise<void>;
}

/** Answers every request with the same page. */
export function startShop(): Shop {
  const visits: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ url }) {
      visits.push(url);
      return new Response('<!doctype html><title>Shop</title><link rel="icon" href="data:,">', {
        headers: { 'content-type': 'text/html' },
      });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, visits, stop: () => server.stop(true) };
}
