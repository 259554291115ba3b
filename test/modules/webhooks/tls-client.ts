/** Run by hostile.test.ts in a process that trusts the test authority: sends to names that resolve to loopback. */
import { BlockList } from 'node:net';
import { guardedFetch, type OutboundError } from '../../../src/outbound/guarded-fetch.ts';
import { CERTIFICATES } from './certificates.ts';

const serve = (cert: string) =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { key: CERTIFICATES.goodKey, cert },
    fetch: (request) => new Response(request.headers.get('host')?.split(':')[0] ?? ''),
  });

const allowed = new BlockList();
allowed.addSubnet('127.0.0.0', 8, 'ipv4');
const send = guardedFetch({ allowed, isLoopbackAllowed: false, resolve: async () => ['127.0.0.1'] });

/** Returns the host that the server saw, or the error. */
async function seenAs(host: string, { port }: { port: number | undefined }): Promise<string> {
  try {
    const url = `https://${host}:${port}/`;
    const answer = await send({ url, method: 'POST', body: '{}', timeoutMs: 5000, maxBytes: 100 });
    return new TextDecoder().decode(answer.body);
  } catch (error) {
    return (error as OutboundError).problem;
  }
}

const server = serve(CERTIFICATES.good);
const outdated = serve(CERTIFICATES.expired);
console.log(
  JSON.stringify({
    good: await seenAs('good.test', server),
    otherName: await seenAs('other.test', server),
    goodAgain: await seenAs('good.test', server),
    byAddress: await seenAs('127.0.0.1', server),
    expired: await seenAs('good.test', outdated),
  }),
);
process.exit(0);
