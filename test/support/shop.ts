/** An application's own site, which people come back to after they have signed in. */

export interface Shop {
  /** Its origin. */
  readonly url: string;
  /** The addresses that its server was asked for, oldest first. */
  readonly visits: string[];
  stop(): Promise<void>;
}

/** One page, whatever is asked for. */
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
