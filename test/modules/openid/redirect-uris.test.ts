/** Redirect URIs: which may be registered, and that only the registered text is accepted. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { formTarget, isRegistered, redirectProblem, withParameters } from '@/modules/openid/redirect-uris.ts';

const STRICT = { isLoopbackAllowed: false };
const LOOSE = { isLoopbackAllowed: true };
const CLOSED = { isLoopbackOpen: false };
const OPEN = { isLoopbackOpen: true };

describe('a redirect URI may be registered', () => {
  test.each([
    'https://app.example.com',
    'https://app.example.com/',
    'https://app.example.com/callback',
    'https://app.example.com/callback/',
    'https://app.example.com:8443/callback?tenant=1&next=%2Fcart',
    'https://app.example.com?tenant=1',
    'https://xn--bcher-kva.example/callback',
    'https://127.0.0.1/callback',
    'https://[2001:db8::1]/callback',
    'com.example.app:/callback',
    'com.example.app://callback',
    'app.immich:///oauth-callback',
  ])('as %s', (uri) => {
    expect(redirectProblem(uri, STRICT)).toBeNull();
  });

  test.each(['http://localhost:3000/callback', 'http://127.0.0.1/callback', 'http://[::1]:8000/', 'http://localhost'])(
    'as %s where loopback is allowed, and nowhere else',
    (uri) => {
      expect(redirectProblem(uri, LOOSE)).toBeNull();
      expect(redirectProblem(uri, STRICT)).toContain('Give an https URI');
    },
  );

  test.each([
    ['', 'absolute URI'],
    ['/callback', 'absolute URI'],
    ['//app.example.com/callback', 'absolute URI'],
    ['app.example.com/callback', 'absolute URI'],
    ['https://', 'absolute URI'],
    ['https://app.example.com/callback#', 'fragment'],
    ['https://app.example.com/callback#token', 'fragment'],
    ['https://*.example.com/callback', 'wildcards'],
    ['https://app.example.com/*', 'wildcards'],
    ['https://app.example.com/call back', 'RFC 3986'],
    ['https://app.example.com/callback\n', 'RFC 3986'],
    ['https://app.example.com/\r\nSet-Cookie:a=b', 'RFC 3986'],
    ['https://app.example.com\\@evil.example', 'RFC 3986'],
    ['https://bücher.example/callback', 'RFC 3986'],
    ['https://app.example.com/"><script>', 'RFC 3986'],
    ['http://app.example.com/callback', 'https URI'],
    ['http://localhost.evil.example/callback', 'https URI'],
    ['http://127.0.0.1.evil.example/callback', 'https URI'],
    ['javascript:alert(1)', 'https URI'],
    ['javascript://app.example.com/%0aalert(1)', 'https URI'],
    ['data:text/html,hello', 'https URI'],
    ['file:///etc/passwd', 'https URI'],
    ['blob:https://app.example.com/1', 'https URI'],
    ['myapp://callback', 'with a period'],
    ['urn:ietf:wg:oauth:2.0:oob', 'https URI'],
    ['com.example.app:callback', 'https URI'],
    ['COM.EXAMPLE.APP:/callback', 'https URI'],
    ['HTTPS://app.example.com/callback', 'as browsers send it'],
    ['https://APP.example.com/callback', 'as browsers send it'],
    ['https://app.example.com:443/callback', 'as browsers send it'],
    ['https://user@app.example.com/callback', 'as browsers send it'],
    ['https://user:secret@app.example.com/callback', 'as browsers send it'],
    ['https://@app.example.com/callback', 'as browsers send it'],
    ['https://app.example.com/a/../callback', 'as browsers send it'],
    ['https://app.example.com/./callback', 'as browsers send it'],
    ['https://app.example.com/a/%2e%2e/callback', 'as browsers send it'],
    ['https:/app.example.com/callback', 'as browsers send it'],
    ['https:app.example.com/callback', 'as browsers send it'],
    ['https://app.example.com;x/callback', 'as browsers send it'],
    ['https://app.example.com,evil.example/callback', 'as browsers send it'],
    ['https://0x7f.1/callback', 'as browsers send it'],
    ['https://app.example.com/callback?code=1', 'parameters of an answer'],
    ['https://app.example.com/callback?a=1&st%61te=2', 'parameters of an answer'],
    ['com.example.app:/callback?iss=1', 'parameters of an answer'],
    [`https://app.example.com/${'a'.repeat(2000)}`, 'at most 2000'],
  ])('not as %p', (uri, reason) => {
    expect(redirectProblem(uri, LOOSE)).toContain(reason);
    expect(redirectProblem(uri, STRICT)).not.toBeNull();
  });
});

describe('a redirect URI is accepted', () => {
  const REGISTERED = ['https://app.example.com/callback', 'com.example.app:/callback'];

  test.each(REGISTERED)('if it is the registered text %s', (uri) => {
    expect(isRegistered(uri, REGISTERED, CLOSED)).toBe(true);
  });

  test.each([
    'https://app.example.com/callback/',
    'https://app.example.com/Callback',
    'https://app.example.com/callback?',
    'https://app.example.com/callback?a=1',
    'https://app.example.com/callback#',
    'https://app.example.com/callback/deeper',
    'https://app.example.com/./callback',
    'https://app.example.com/x/../callback',
    'https://app.example.com/%63allback',
    'https://app.example.com//callback',
    'https://app.example.com:443/callback',
    'https://app.example.com:8443/callback',
    'https://APP.example.com/callback',
    'HTTPS://app.example.com/callback',
    'http://app.example.com/callback',
    'https://user@app.example.com/callback',
    'https://app.example.com@evil.example/callback',
    'https://app.example.com.evil.example/callback',
    'https://evil.example/https://app.example.com/callback',
    'https://sub.app.example.com/callback',
    'https://app.example.com\\callback',
    ' https://app.example.com/callback',
    'https://app.example.com/callback ',
    'https://app.example.com/callback\u0000',
    'com.example.app:/callback/',
    'com.example.app://callback',
    'http://localhost/callback',
    '',
  ])('not as %p', (uri) => {
    expect(isRegistered(uri, REGISTERED, CLOSED)).toBe(false);
  });

  test('is one text only, whatever is changed in it', () => {
    const [uri] = REGISTERED as [string];
    const edits = fc.record({
      at: fc.nat({ max: uri.length }),
      removed: fc.nat({ max: 3 }),
      added: fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('/', '.', '..', '%2f', '@', '?', '#', ':443', '\\')),
    });
    fc.assert(
      fc.property(edits, ({ at, removed, added }) => {
        const changed = uri.slice(0, at) + added + uri.slice(at + removed);
        expect(isRegistered(changed, [uri], CLOSED)).toBe(changed === uri);
      }),
    );
  });

  test('on loopback with any port, and in nothing else different (RFC 8252 §7.3)', () => {
    const registered = ['http://127.0.0.1/callback', 'http://localhost:3000/cb?a=1', 'http://[::1]/callback'];
    const accepted = (uri: string) => isRegistered(uri, registered, CLOSED);
    for (const uri of ['http://127.0.0.1:49152/callback', 'http://localhost/cb?a=1', 'http://[::1]:65535/callback'])
      expect([uri, accepted(uri)]).toEqual([uri, true]);
    for (const uri of [
      'http://127.0.0.1:65536/callback',
      'http://127.0.0.1:0/callback',
      'http://127.0.0.1:080/callback',
      'http://127.0.0.1:/callback',
      'http://127.0.0.1:80@evil.example/callback',
      'http://127.0.0.1:80/callback/',
      'http://127.0.0.1:80/callback#',
      'http://127.0.0.1.evil.example/callback',
      'http://127.0.0.2:80/callback',
      'http://localhost:80/callback',
      'http://localhost:3001/cb?a=2',
      'https://127.0.0.1:80/callback',
      'HTTP://127.0.0.1:80/callback',
      'http://localhost.:3000/cb?a=1',
    ])
      expect([uri, accepted(uri)]).toEqual([uri, false]);
  });

  test('on loopback unregistered in a test instance only, where it could have been registered', () => {
    expect(isRegistered('http://localhost:3000/any', [], OPEN)).toBe(true);
    for (const uri of ['http://localhost:3000/any#', 'http://user@localhost/any', 'https://app.example.com/any', 'x'])
      expect([uri, isRegistered(uri, [], OPEN)]).toEqual([uri, false]);
    expect(isRegistered('http://localhost:3000/any', [], CLOSED)).toBe(false);
  });
});

describe('an answer', () => {
  test('appends its parameters to the registered text, which stays as it is', () => {
    expect(withParameters('https://app.example.com', { code: 'eac_1', state: undefined })).toBe(
      'https://app.example.com?code=eac_1',
    );
    expect(withParameters('https://app.example.com/cb?a=%2f', { code: '1' })).toBe(
      'https://app.example.com/cb?a=%2f&code=1',
    );
    expect(withParameters('https://app.example.com/cb?', { code: '1' })).toBe('https://app.example.com/cb?code=1');
    expect(withParameters('com.example.app:/cb', { code: '1' })).toBe('com.example.app:/cb?code=1');
  });

  test('returns every state verbatim, and ends neither the parameter nor the header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, hasQuery) => {
        const state = text.toWellFormed();
        const uri = `https://app.example.com/cb${hasQuery ? '?a=1' : ''}`;
        const answer = withParameters(uri, { code: 'eac_1', state });
        expect(answer).toStartWith(uri);
        expect(answer).toMatch(/^[\x21-\x7e]+$/);
        const { searchParams, hash } = new URL(answer);
        expect([searchParams.getAll('state'), searchParams.getAll('code'), hash]).toEqual([[state], ['eac_1'], '']);
      }),
    );
  });
});

describe('the target of a form', () => {
  test('is the origin of a web address, and the scheme of an application', () => {
    expect(
      [
        'https://app.example.com:8443/cb?a=1',
        'http://127.0.0.1:49152/cb',
        'http://[::1]/cb',
        'com.example.app:/cb',
      ].map(formTarget),
    ).toEqual(['https://app.example.com:8443', 'http://127.0.0.1:49152', 'http:', 'com.example.app:']);
  });

  test('adds nothing else to a policy, for any URI that may be registered', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), fc.string(), (url, tail) => {
        const uri = url + tail;
        fc.pre(redirectProblem(uri, LOOSE) === null);
        expect(formTarget(uri)).toMatch(/^[a-z][a-z\d.+-]*:(?:\/\/[a-z\d.-]+(?::\d+)?)?$/);
      }),
    );
  });
});
