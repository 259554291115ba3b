/** A person's browser at a running server, without a window: it keeps cookies and sends what the pages' scripts send. */
import { createBrowser } from '../modules/provider/browser.ts';
import { type HttpAnswer, outboxCode, request } from './binary.ts';

export function pageVisitor(server: { readonly url: string }) {
  const browser = createBrowser({
    call: (method, path, options = {}) => request(server, method, path, options as never),
  });
  const headers = { origin: server.url, 'sec-fetch-site': 'same-origin', 'gatehouse-page': 'account' };
  const post = (path: string, body: unknown) => browser.visit(path, { method: 'POST', body, headers });

  return {
    ...browser,
    /** Opens an address of the server, as from a link. */
    open(address: string | URL): Promise<HttpAnswer> {
      const { pathname, search } = new URL(address, server.url);
      return browser.visit(pathname + search);
    },
    /** Signs in with a mailed code, for the pages alone: no application is given a token. */
    async signIn(email: string, clientId: string): Promise<{ userId: string }> {
      const { json } = await post('/api/v1/auth/otp/send', { email, clientId });
      const code = await outboxCode(server, email);
      const answer = await post('/api/v1/auth/otp/verify', { challengeId: json.data.challengeId, code });
      if (answer.status !== 200) throw new Error(`otp/verify answered ${answer.status}: ${answer.text}`);
      return answer.json.data;
    },
    /** Presses a button of the form in a page. @param name the button's text. */
    async press({ text }: HttpAnswer, name: RegExp): Promise<HttpAnswer> {
      const { action, fields } = formOf(text, name);
      return browser.visit(action, {
        method: 'POST',
        body: new URLSearchParams(fields).toString(),
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: 'null',
          'sec-fetch-site': 'same-origin',
        },
      });
    },
  };
}

export type PageVisitor = ReturnType<typeof pageVisitor>;

/** Reads a form that a page's server has rendered, with the named button as the one pressed. */
function formOf(html: string, name: RegExp): { action: string; fields: [string, string][] } {
  const form = html.match(/<form\b[^]*?<\/form>/g)?.find((text) => name.test(text));
  if (form === undefined) throw new Error(`no form with ${name} in ${html.slice(0, 3000)}`);
  const unescaped = (text = '') => text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
  const attribute = (tag: string, wanted: string) => new RegExp(`\\s${wanted}="([^"]*)"`).exec(tag)?.[1];
  const inputs = (form.match(/<input\b[^>]*>/g) ?? []).map((tag) => [attribute(tag, 'name'), attribute(tag, 'value')]);
  const pressed = (form.match(/<button\b[^>]*>[^]*?<\/button>/g) ?? [])
    .filter((button) => name.test(button.replace(/<[^>]*>/g, ' ')))
    .map((button) => [attribute(button, 'name'), attribute(button, 'value')]);
  const fields = [...inputs, ...pressed].flatMap(([key, value]) =>
    key === undefined ? [] : [[key, unescaped(value)] as [string, string]],
  );
  return { action: unescaped(attribute(form, 'action')), fields };
}
