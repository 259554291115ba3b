/** A shop whose customers sign in through the hostile provider, with a browser. */
import { afterAll } from 'bun:test';
import { BlockList } from 'node:net';
import type { Application } from '@/store/applications.ts';
import { guardedFetch } from '@/outbound/guarded-fetch.ts';
import { type Answer, createInstance, type Instance, START } from '../../support/instance.ts';
import { type Browser, createBrowser, fragmentOf } from './browser.ts';
import { type HostileProvider, startHostileProvider } from './hostile-provider.ts';

export const RETURN_TO = 'https://shop.example.com/welcome';
const CALLBACK = '/api/auth/google/callback';

export interface Scene {
  readonly instance: Instance;
  readonly application: Application;
  readonly provider: HostileProvider;
  readonly browser: Browser;
  start(query?: Record<string, string>): Promise<Answer>;
  /** Begins a sign-in. Returns the query that the provider would send the browser back with. */
  begin(query?: Record<string, string>): Promise<URLSearchParams>;
  comeBack(query: URLSearchParams | Record<string, string>, browser?: Browser): Promise<Answer>;
  /** Runs the whole flow with the provider's claims. Returns the final answer. */
  signIn(claims?: Record<string, unknown>): Promise<Answer>;
  count(table: string): number;
}

const running: HostileProvider[] = [];

afterAll(() => Promise.all(running.map((provider) => provider.stop())));

export async function startProvider(now: () => number = () => START): Promise<HostileProvider> {
  const provider = await startHostileProvider(now);
  running.push(provider);
  return provider;
}

/** @param options.environment settings that replace the provider's own. */
export async function createScene({
  environment = {},
  input = {},
}: { environment?: Record<string, string>; input?: Record<string, unknown> } = {}): Promise<Scene> {
  let instance: Instance | undefined;
  const provider = await startProvider(() => instance?.clock.real() ?? START);
  const outbound = guardedFetch({ allowed: new BlockList(), isLoopbackAllowed: true });
  instance = await createInstance({
    mode: 'ephemeral',
    environment: { ...provider.environment, ...environment },
    outbound,
  });
  const application = await instance.createApplication({ returnUrls: [RETURN_TO], ...input });
  return sceneOf(instance, application, provider);
}

export function sceneOf(instance: Instance, application: Application, provider: HostileProvider): Scene {
  const browser = createBrowser(instance);
  const scene: Scene = {
    instance,
    application,
    provider,
    browser,
    start: (query = {}) =>
      browser.visit(
        `/api/auth/google/start?${new URLSearchParams({ clientId: application.clientId, returnTo: RETURN_TO, ...query })}`,
      ),
    async begin(query) {
      const { status, headers, text } = await scene.start(query);
      if (status !== 302) throw new Error(`start answered ${status}: ${text}`);
      return provider.agree(headers.get('location')!);
    },
    comeBack: (query, from = browser) => from.visit(`${CALLBACK}?${new URLSearchParams(query)}`),
    async signIn(claims = {}) {
      provider.claims = claims;
      return scene.comeBack(await scene.begin());
    },
    count: (table) => (instance.sqlite.query(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n,
  };
  return scene;
}

/** Returns the person whom a landing signed in. */
export async function personOf({ instance }: Scene, landed: Answer): Promise<{ userId: string; email: string }> {
  const { token } = fragmentOf(landed);
  const { json } = await instance.call('POST', '/api/v1/session', { token: token ?? 'none' });
  return { userId: json.userId, email: json.email };
}
