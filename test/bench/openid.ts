/**
 * Sign-ins by authorization code per second: each is a request to the authorization endpoint with the cookie of a person
 * who is signed in, and the exchange of the code by the client. 200 people at 32 connections. Prints one JSON line.
 * Usage: bun test/bench/openid.ts [seconds] [--connections 32] [--alg RS256|EdDSA]
 */
import { parseArgs } from 'node:util';
import { databaseCode, emptyFolder } from '../support/binary.ts';
import { createApplication, cpuMs, round, startServer } from './server.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { connections: { type: 'string', default: '32' }, alg: { type: 'string', default: 'RS256' } },
});
const seconds = Number(positionals[0] ?? 10);
const connections = Number(values.connections);

const CALLBACK = 'https://shop.example.net/callback';
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const CODE = /[?&]code=(\w+)/;
const PEOPLE = 200;

const scratch = emptyFolder();
const server = await startServer(scratch.path);
try {
  const { id, clientId } = await createApplication(server, 'Bench');
  await server.call('PUT', `/api/applications/${id}/openid`, { redirectUris: [CALLBACK], idTokenAlg: values.alg });
  const { clientSecret } = await server.call('POST', `/api/applications/${id}/rotate-secret`);
  const authorization = `Basic ${btoa(`${clientId}:${clientSecret}`)}`;
  const asked = new URLSearchParams({
    ...{ client_id: clientId, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid profile email' },
    ...{ state: 's', nonce: 'n', code_challenge: CHALLENGE, code_challenge_method: 'S256' },
  });
  const exchanged = { grant_type: 'authorization_code', redirect_uri: CALLBACK, code_verifier: VERIFIER };
  const form = String(new URLSearchParams(exchanged));
  const { issuer } = (await (await fetch(`${server.url}/.well-known/openid-configuration`)).json()) as {
    issuer: string;
  };
  const address = `${server.url}/oauth/authorize?${asked}`;
  const cookies = await Promise.all(Array.from({ length: PEOPLE }, (_, turn) => signIn(`person${turn}@example.com`)));

  // The engine compiles hot code in the first seconds, which takes as much CPU as the work itself.
  await load(3);
  const [before, ownBefore] = [cpuMs(server.pid), process.cpuUsage()];
  const times = await load(seconds);
  const cpu = cpuMs(server.pid) - before;
  const own = process.cpuUsage(ownBefore);
  times.sort((left, right) => left - right);
  console.log(
    JSON.stringify({
      ...{ benchmark: 'openid', alg: values.alg, connections, seconds },
      perSecond: round(times.length / seconds),
      cpuUsPerSignIn: round((cpu * 1000) / times.length),
      clientCpuUsPerSignIn: round((own.user + own.system) / times.length),
      p50Ms: round(times[Math.floor(times.length / 2)] ?? 0, 1),
      p99Ms: round(times[Math.floor(times.length * 0.99)] ?? 0, 1),
    }),
  );
  await server.stop();

  async function signIn(email: string): Promise<string> {
    const headers = { origin: issuer, 'sec-fetch-site': 'same-origin', 'gatehouse-page': 'account' };
    const post = (path: string, body: object) =>
      fetch(server.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const sent = (await (await post('/api/v1/auth/otp/send', { email, clientId })).json()) as {
      data: { challengeId: string };
    };
    const code = databaseCode(scratch.path, email);
    const answer = await post('/api/v1/auth/otp/verify', { challengeId: sent.data.challengeId, code });
    if (!answer.ok) throw new Error(`otp/verify answered ${answer.status}`);
    return answer.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
  }

  /** Signs in for a time. @returns how long each took, in milliseconds. */
  async function load(duration: number): Promise<number[]> {
    const end = performance.now() + duration * 1000;
    const taken: number[] = [];
    let turn = 0;
    async function worker(): Promise<void> {
      while (performance.now() < end) {
        const since = performance.now();
        const cookie = cookies[(turn += 1) % PEOPLE] ?? '';
        const { headers, status } = await fetch(address, { headers: { cookie }, redirect: 'manual' });
        const location = headers.get('location');
        const [, code] = CODE.exec(location ?? '') ?? [];
        if (code === undefined) throw new Error(`no code, but ${status} ${location}`);
        const answer = await fetch(`${server.url}/oauth/token`, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
          body: `${form}&code=${code}`,
        });
        const { id_token: token } = (await answer.json()) as { id_token?: string };
        if (token === undefined) throw new Error(`token answered ${answer.status}`);
        taken.push(performance.now() - since);
      }
    }
    await Promise.all(Array.from({ length: connections }, worker));
    return taken;
  }
} finally {
  server.kill();
  scratch.remove();
}
