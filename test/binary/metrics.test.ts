/** The metrics of a real server, over real connections and a real disk; and its readable log. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { emptyFolder, eventually, request, type RunningServer, startServer } from '../support/binary.ts';
import { readExposition } from '../support/exposition.ts';

setDefaultTimeout(120_000);
const scratch = emptyFolder();
let server: RunningServer;
beforeAll(async () => {
  server = await startServer(
    scratch.path,
    { GATEHOUSE_LOG_LEVEL: 'info', GATEHOUSE_OWNER_EMAIL: 'owner@example.com' },
    ['--log-format', 'pretty'],
  );
});
afterAll(() => scratch.remove());

const scrape = async () => readExposition((await request(server, 'GET', '/metrics')).text);

describe('a server on a disk', () => {
  test('exports flush durations, log size and work in flight', async () => {
    const figures = await scrape();
    expect(figures.value('gatehouse_database_flush_duration_seconds_count')).toBeGreaterThan(0);
    expect(figures.value('gatehouse_database_flush_failures_total')).toBe(0);
    expect(figures.value('gatehouse_database_wal_bytes')).toBeGreaterThan(0);
    // Counts the request for the metrics itself.
    expect(figures.value('gatehouse_http_requests_in_flight')).toBe(1);
    await eventually('the loop was looked at', async () =>
      (await scrape()).value('gatehouse_event_loop_delay_seconds_count'),
    );
  });

  test('compresses a long answer if the client accepts it', async () => {
    for (const accept of ['text/plain', 'application/openmetrics-text']) {
      const response = await fetch(`${server.url}/metrics`, {
        headers: { accept, 'accept-encoding': 'gzip' },
        decompress: false,
      });
      expect(response.headers.get('content-encoding')).toBe('gzip');
      readExposition(
        new TextDecoder().decode(Bun.gunzipSync(await response.bytes())),
        accept === 'text/plain' ? 'prometheus' : 'openmetrics',
      );
    }
  });

  test.each([
    ['says for whom it asks', { 'x-forwarded-for': '203.0.113.7' }],
    ['says its name', { via: '1.1 proxy' }],
    ['says the scheme', { 'x-forwarded-proto': 'https' }],
  ])('is closed to a proxy on the same machine that %s', async (_, added: Record<string, string>) => {
    using proxy = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (incoming) => fetch(server.url + new URL(incoming.url).pathname, { headers: added }),
    });
    expect((await request({ url: `http://127.0.0.1:${proxy.port}` }, 'GET', '/healthz')).status).toBe(200);
    expect((await request({ url: `http://127.0.0.1:${proxy.port}` }, 'GET', '/metrics')).status).toBe(404);
  });

  test('writes its log in the configured format, without colours into a pipe', async () => {
    await request(server, 'GET', '/nowhere');
    const text = await server.stdout.until(
      /\n\d\d:\d\d:\d\d\.\d{3} INFO  404 GET    \(none\) +\d+\.\d ms  127\.0\.0\.1 req_\w+\n/,
    );
    expect(text).not.toContain('\u001b');
  });
});
