/** The end session endpoint, and what a sign-out on the hosted pages ends with it. */
import { describe, expect, test } from 'bun:test';
import { DAY, MINUTE } from '@/core/clock.ts';
import { pageBrowser } from '../../attack/page-browser.ts';
import type { Answer } from '../../support/instance.ts';
import { answerOf, authorizePath, type Changes, formOf, goOn, offeredAt, submit } from './authorization-scene.ts';
import { claimsIn, createScene, sceneOf } from './scene.ts';

const AFTER = 'https://wiki.example.com/bye';
const CONFIRM = '/oauth/end-session/confirm';

const endPath = (parameters: Changes) => {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  return `/oauth/end-session?${new URLSearchParams(given)}`;
};
const isAsked = ({ status, text }: Answer) => status === 200 && text.includes('id="confirm-sign-out"');
const isDone = ({ status, text }: Answer) => status === 200 && text.includes('id="signed-out"');

async function createSignOutScene() {
  const scene = await createScene();
  await scene.configure({ postLogoutRedirectUris: [AFTER] });
  const { instance, application } = scene;
  const ended = () =>
    instance
      .events(application.id)
      .filter(({ type }) => type === 'user.signed_out' || type === 'user.session_revoked')
      .map(({ type, data }) => [type, (data as { sessionId: string }).sessionId]);
  return { ...scene, ended };
}

describe('a client that shows its ID token', () => {
  test('signs the person out of its own session and of the hosted pages, without a question', async () => {
    const { flow, verdict, ended, clientId } = await createSignOutScene();
    const { person, idToken, accessToken } = await flow();
    const path = endPath({ id_token_hint: idToken, post_logout_redirect_uri: AFTER, state: 'x y' });
    const answer = await person.browser.visit(path);
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe(`${AFTER}?state=x+y`);
    expect(await verdict(accessToken)).toBe('revoked');
    expect(ended()).toEqual([
      ['user.signed_out', claimsIn(idToken)['sid'] as string],
      ['user.signed_out', person.pageSessionId],
    ]);
    expect(offeredAt(await person.browser.visit(authorizePath(clientId)))).toEqual([]);
  });

  test('may be late, and gets a page where it names no address', async () => {
    const { instance, flow } = await createSignOutScene();
    const { person, idToken } = await flow();
    instance.clock.advance(40 * DAY);
    expect(isDone(await person.browser.visit(endPath({ id_token_hint: idToken })))).toBe(true);
  });

  test('ends its own session from a browser that is not signed in', async () => {
    const { instance, flow, verdict } = await createSignOutScene();
    const { idToken, accessToken } = await flow();
    expect(isDone(await pageBrowser(instance).visit(endPath({ id_token_hint: idToken })))).toBe(true);
    expect(await verdict(accessToken)).toBe('revoked');
  });

  test('signs nobody else out of the pages without a question', async () => {
    const { instance, application, flow, signIn, clientId } = await createSignOutScene();
    const { idToken } = await flow('ada@example.com');
    const bob = await signIn('bob@example.com');
    const page = await bob.browser.visit(endPath({ id_token_hint: idToken }));
    expect(isAsked(page)).toBe(true);
    expect(page.text).toContain('bob@example.com');
    expect(answerOf(await bob.browser.visit(authorizePath(clientId)))).toHaveProperty('code');
    expect(instance.auditKinds(application.id).filter((kind) => kind === 'session.signed_out')).toHaveLength(1);
  });

  test('ends no session of another client, nor that of a person it does not name', async () => {
    const { instance, flow, verdict } = await createSignOutScene();
    const forum = await sceneOf(instance, await instance.createApplication({ name: 'Forum' }));
    const { idToken } = await forum.flow('ada@example.com');
    const { accessToken } = await flow('bob@example.com');
    await pageBrowser(instance).visit(endPath({ id_token_hint: idToken }));
    expect(await verdict(accessToken)).toBe('ok');
  });

  test('must be the client that it names, and must have registered the address', async () => {
    const { instance, flow, clientId } = await createSignOutScene();
    const { person, idToken } = await flow();
    const wrong: Changes[] = [
      { id_token_hint: idToken, client_id: 'another' },
      { id_token_hint: idToken, post_logout_redirect_uri: `${AFTER}/` },
      { id_token_hint: idToken, post_logout_redirect_uri: 'https://evil.example/' },
      { post_logout_redirect_uri: AFTER },
      { id_token_hint: `${idToken}x`, post_logout_redirect_uri: AFTER },
      { client_id: clientId, post_logout_redirect_uri: 'https://wiki.example.com/callback' },
    ];
    for (const parameters of wrong) {
      const answer = await person.browser.visit(endPath(parameters));
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    }
    expect(answerOf(await person.browser.visit(authorizePath(clientId)))).toHaveProperty('code');
    expect(instance.auditKinds()).not.toContain('session.signed_out');
  });
});

describe('a request without an ID token', () => {
  test('asks first, and its form signs out and leads to the client', async () => {
    const { flow, verdict, clientId } = await createSignOutScene();
    const { person, accessToken } = await flow();
    const { browser } = person;
    const page = await browser.visit(endPath({ client_id: clientId, post_logout_redirect_uri: AFTER, state: 's' }));
    expect(isAsked(page)).toBe(true);
    expect(page.text).toContain('ada@example.com');
    expect(page.headers.get('content-security-policy')).toContain(`form-action 'self' https://wiki.example.com;`);
    expect(await verdict(accessToken)).toBe('ok');
    const answer = await submit(browser, CONFIRM, formOf(page));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `${AFTER}?state=s`]);
    expect(await verdict(accessToken)).toBe('revoked');
    expect(offeredAt(await browser.visit(authorizePath(clientId)))).toEqual([]);
  });

  test('without a client signs everybody in the browser out', async () => {
    const { instance, application, signIn, clientId } = await createSignOutScene();
    const { browser } = await signIn('ada@example.com');
    instance.clock.advance(MINUTE);
    await browser.signIn(application, 'bob@example.com', 'account');
    const page = await browser.visit(endPath({}));
    expect(page.text).toContain('ada@example.com');
    expect(page.text).toContain('bob@example.com');
    expect(isDone(await submit(browser, CONFIRM, formOf(page)))).toBe(true);
    expect(offeredAt(await browser.visit(authorizePath(clientId)))).toEqual([]);
    expect([...browser.cookies.keys()].filter((name) => name.includes(clientId))).toEqual([]);
  });

  test('is done at once where nobody is signed in', async () => {
    const { instance, clientId } = await createSignOutScene();
    const browser = pageBrowser(instance);
    expect(isDone(await browser.visit(endPath({})))).toBe(true);
    const answer = await browser.visit(endPath({ client_id: clientId, post_logout_redirect_uri: AFTER }));
    expect(answer.headers.get('location')).toBe(AFTER);
  });

  test('is confirmed only by the page that this browser was shown', async () => {
    const { instance, signIn, clientId } = await createSignOutScene();
    const { browser } = await signIn('ada@example.com');
    const bob = await signIn('bob@example.com');
    const form = formOf(await browser.visit(endPath({ client_id: clientId })));
    const ofBob = formOf(await bob.browser.visit(endPath({ client_id: clientId })));
    const changed = `${form['request']}&post_logout_redirect_uri=${encodeURIComponent(AFTER)}`;
    for (const fields of [ofBob, { ...form, confirmation: '' }, { ...form, request: changed }])
      expect(isAsked(await submit(browser, CONFIRM, fields))).toBe(true);
    expect(answerOf(await browser.visit(authorizePath(clientId)))).toHaveProperty('code');
    expect(instance.auditKinds()).not.toContain('session.signed_out');
  });

  test('from a form of another site goes on by GET', async () => {
    const { signIn, clientId } = await createSignOutScene();
    const { browser } = await signIn('ada@example.com');
    const answer = await submit(browser, '/oauth/end-session', { client_id: clientId });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `/oauth/end-session?client_id=${clientId}`]);
  });
});

describe('the sessions of clients', () => {
  test('end with a sign-out on the account page, wherever the person came to them from', async () => {
    const { instance, application, flow, verdict, ended } = await createSignOutScene();
    const forum = await sceneOf(instance, await instance.createApplication({ name: 'Forum' }));
    const { person, accessToken, idToken } = await flow();
    const { browser, userId } = person;
    const page = await browser.visit(authorizePath(forum.clientId));
    await browser.continueAs(forum.application, userId, { page: 'account' });
    const { code = '' } = answerOf(await goOn(browser, page, userId));
    const elsewhere = (await forum.exchange(code)).json.access_token as string;
    expect(await forum.verdict(elsewhere)).toBe('ok');

    await browser.signOut(application);
    expect(await verdict(accessToken)).toBe('revoked');
    expect(await forum.verdict(elsewhere)).toBe('revoked');
    expect(ended()).toContainEqual(['user.session_revoked', claimsIn(idToken)['sid'] as string]);
  });

  test('pass to the session that replaces the one of the pages', async () => {
    const { instance, application, flow, verdict } = await createSignOutScene();
    const { person, accessToken } = await flow();
    instance.clock.advance(MINUTE);
    await person.browser.signIn(application, 'ada@example.com', 'account');
    expect(await verdict(accessToken)).toBe('ok');
    await person.browser.signOut(application);
    expect(await verdict(accessToken)).toBe('revoked');
  });

  test('of another person in the same browser stay', async () => {
    const { instance, application, flow, verdict } = await createSignOutScene();
    const { person, accessToken } = await flow('ada@example.com');
    instance.clock.advance(MINUTE);
    await person.browser.signIn(application, 'bob@example.com', 'account');
    await person.browser.signOut(application);
    expect(await verdict(accessToken)).toBe('ok');
  });
});
