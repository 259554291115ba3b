/**
 * A minimal browser for the flow: it keeps cookies by host, submits forms, and leaves redirects to the test. The
 * provider's redirect back is a cross-site navigation, so it sends no cookie with SameSite=Strict (RFC 6265bis §5.2).
 */
import type { Answer, CallOptions, Instance } from '../../support/instance.ts';

const CALLBACK_PATH = '/api/auth/google/callback';

export interface Browser {
  /** Sends a request with cookies to the instance under test. */
  visit(path: string, options?: { method?: string } & CallOptions): Promise<Answer>;
  /** Sends a request to any other host. */
  open(url: string, form?: Record<string, string>): Promise<Response>;
  /** The instance's cookies; tests may change them. */
  readonly cookies: Map<string, string>;
}

export function createBrowser(instance: Pick<Instance, 'call'>): Browser {
  const cookies = new Map<string, string>();
  const elsewhere = new Map<string, Map<string, string>>();
  const strict = new Set<string>();
  const header = (jar: Map<string, string>) => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');

  return {
    cookies,
    async visit(path, { method = 'GET', token, body, headers: further = {} } = {}) {
      const isFromProvider = path.startsWith(CALLBACK_PATH);
      const sent = new Map([...cookies].filter(([name]) => !(isFromProvider && strict.has(name))));
      const headers = { ...(sent.size > 0 && { cookie: header(sent) }), ...further };
      const answer = await instance.call(method, path, { token, body, headers });
      keep(cookies, answer.headers);
      for (const { name, sameSite } of answer.headers.getSetCookie().map((line) => Bun.Cookie.parse(line)))
        if (sameSite === 'strict') strict.add(name);
        else strict.delete(name);
      return answer;
    },
    async open(url, form) {
      const { host } = new URL(url);
      const jar = elsewhere.get(host) ?? new Map<string, string>();
      elsewhere.set(host, jar);
      const response = await fetch(url, {
        method: form ? 'POST' : 'GET',
        redirect: 'manual',
        headers: jar.size > 0 ? { cookie: header(jar) } : {},
        ...(form && { body: new URLSearchParams(form) }),
      });
      keep(jar, response.headers);
      return response;
    },
  };
}

function keep(jar: Map<string, string>, headers: Headers): void {
  for (const line of headers.getSetCookie()) {
    const { name, value, maxAge, expires } = Bun.Cookie.parse(line);
    const isGone = maxAge === 0 || (expires !== undefined && Number(expires) === 0) || value === '';
    if (isGone) jar.delete(name);
    else jar.set(name, value);
  }
}

/** Follows redirects until the instance's callback is reached, logging in on the way. */
export async function passProvider(browser: Browser, url: string, form: Record<string, string>): Promise<string> {
  let next = url;
  for (let step = 0; step < 10; step += 1) {
    if (new URL(next).pathname === CALLBACK_PATH) return next;
    let response = await browser.open(next);
    if (response.status === 200) response = await browser.open(next, form);
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${next} answered ${response.status}: ${await response.text()}`);
    next = new URL(location, next).href;
  }
  throw new Error('the provider sends the browser round in circles');
}

/** Returns path and query of an address at the instance. */
export function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** Returns the values in the fragment that a flow ends with. */
export function fragmentOf({ headers }: Answer): Record<string, string> {
  const location = headers.get('location') ?? '';
  return Object.fromEntries(new URLSearchParams(location.split('#')[1] ?? ''));
}
