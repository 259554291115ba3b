/** The components for React on a server: what they render there, before a browser has said who is signed in. */
import { describe, expect, test } from 'bun:test';
import { createElement, type ReactNode } from 'react';
import { renderToString } from 'react-dom/server';
import type { Identity } from '@/client/gatehouse.ts';
import {
  Gatehouse,
  type GatehouseProps,
  SignedIn,
  SignedOut,
  SignInButton,
  UserButton,
  type UserState,
  useUser,
} from '@/client/react.ts';

const PROPS = { url: 'https://auth.example.com/', clientId: 'cli_1' };
const ADA = {
  userId: 'usr_1',
  email: 'ada@example.com',
  fullName: 'Ada Lovelace',
  avatarUrl: null,
  roles: ['editor'],
  scopes: [],
  memberships: [],
} as unknown as Identity;

const render = (props: Partial<GatehouseProps>, ...children: ReactNode[]) =>
  renderToString(createElement(Gatehouse, { ...PROPS, ...props }, ...children)).replaceAll('<!-- -->', '');

function everything(): ReactNode[] {
  return [
    createElement(SignedIn, { key: 1 }, 'inside'),
    createElement(SignedIn, { key: 2, role: 'editor' }, 'edits'),
    createElement(SignedIn, { key: 3, role: ['admin', 'owner'], fallback: 'too low' }, 'rules'),
    createElement(SignedOut, { key: 4 }, 'outside'),
    createElement(UserButton, { key: 5 }),
  ];
}

describe('on a server', () => {
  test('nothing is shown of either kind while nobody knows who it is', () => {
    expect(render({}, ...everything())).toBe('');
  });

  test('a person from a cookie is shown at once, with what they may see and a menu that works without a script', () => {
    const html = render({ user: ADA }, ...everything());
    expect(html).toStartWith('insideeditstoo low<details><summary>Ada Lovelace</summary>');
    expect(html).toContain('<a href="https://auth.example.com/account?clientId=cli_1">Account</a>');
    expect(html).toContain('<form action="/auth/sign-out" method="post"><button>Sign out</button></form>');
    expect(html).not.toMatch(/style|class/);
  });

  test('a visitor without a session is known to be one', () => {
    expect(render({ user: null }, ...everything())).toBe('outside');
  });

  test('the button is a link to the page that begins the sign-in, if there is one', () => {
    const button = createElement(SignInButton, { className: 'button' });
    expect(render({ user: null }, button)).toBe('<a href="/auth/sign-in" class="button">Sign in</a>');
    expect(render({ user: null, signInPath: '/login' }, button)).toContain('href="/login"');
    expect(render({}, button)).toBe('<button type="button" class="button">Sign in</button>');
  });

  test('words, pictures and items of the menu are the application’s', () => {
    const menu = createElement(
      UserButton,
      { labels: { account: 'Konto', signOut: 'Abmelden' }, lang: 'de' },
      createElement('a', { href: '/orders' }, 'Bestellungen'),
    );
    const html = render({ user: { ...ADA, avatarUrl: 'https://auth.example.com/a.webp' }, locale: 'de' }, menu);
    expect(html).toContain('<details lang="de"><summary><img src="https://auth.example.com/a.webp" alt=""');
    expect(html).toContain('clientId=cli_1&amp;locale=de">Konto</a><a href="/orders">Bestellungen</a>');
    expect(html).toContain('Abmelden');
  });

  test('the hook says what is known', () => {
    const seen: UserState<'editor'>[] = [];
    const Watcher = () => {
      seen.push(useUser<'editor'>());
      return null;
    };
    render({}, createElement(Watcher));
    render({ user: ADA }, createElement(Watcher));
    render({ user: null }, createElement(Watcher));
    expect(seen.map(({ status, user }) => [status, user?.email])).toEqual([
      ['loading', undefined],
      ['signed-in', 'ada@example.com'],
      ['signed-out', undefined],
    ]);
  });
});

test('a wrong set-up is refused where it is rendered, naming what to set', () => {
  expect(() => render({ url: '' })).toThrow(/^<Gatehouse>: url is empty.*GATEHOUSE/);
  expect(() => render({ clientId: '' })).toThrow(/clientId is empty.*CLIENT_ID/);
  expect(() => renderToString(createElement(UserButton))).toThrow(/Put <Gatehouse/);
});
