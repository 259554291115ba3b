/** The answer to a sign-in that the console tries out: it is compared with the request before anything of it is shown. */
import { expect, test } from 'bun:test';
import { type OpenIdTrial, trialAnswer, trialRedirectUri } from '@/console/views/settings/openid-trial.ts';

const ISSUER = 'https://id.example.org';
const TRIAL: OpenIdTrial = {
  applicationId: 'app_1',
  clientId: 'cli_1',
  isPublic: false,
  issuer: ISSUER,
  tokenEndpoint: `${ISSUER}/oauth/token`,
  redirectUri: trialRedirectUri(ISSUER),
  state: 'the-state',
  verifier: 'the-verifier',
};
const GOOD = { code: 'eac_abc', state: 'the-state', iss: ISSUER };
const answerTo = (query: Record<string, string>, trial: OpenIdTrial | null = TRIAL) =>
  trialAnswer(new URLSearchParams(query), trial);

test('a code comes with the command that exchanges it, with the request’s own verifier and redirect URI', () => {
  const answer = answerTo(GOOD);
  if (answer.kind !== 'arrived') throw new Error(answer.kind);
  expect(answer.code).toBe('eac_abc');
  expect(answer.command).toContain(`curl ${ISSUER}/oauth/token`);
  for (const part of [
    "-u 'cli_1:ecs_…'",
    'grant_type=authorization_code',
    'code=eac_abc',
    `redirect_uri=${ISSUER}/console/openid-try`,
    'code_verifier=the-verifier',
  ])
    expect(answer.command).toContain(part);
});

test('a public client names itself and has no secret in its command', () => {
  const answer = answerTo(GOOD, { ...TRIAL, isPublic: true });
  if (answer.kind !== 'arrived') throw new Error(answer.kind);
  expect(answer.command).toContain('-d client_id=cli_1');
  expect(answer.command).not.toContain('ecs_');
});

test('an error is told with the server’s words', () => {
  const refused = {
    error: 'access_denied',
    error_description: 'The person went back.',
    state: 'the-state',
    iss: ISSUER,
  };
  expect(answerTo(refused)).toMatchObject({
    kind: 'refused',
    error: 'access_denied',
    description: 'The person went back.',
  });
});

test('an answer with another state or issuer, of no trial or with a code for a shell shows nothing', () => {
  for (const [query, trial] of [
    [{ ...GOOD, state: 'another' }, TRIAL],
    [{ code: 'eac_abc', iss: ISSUER }, TRIAL],
    [{ ...GOOD, iss: 'https://evil.example' }, TRIAL],
    [{ code: 'eac_abc', state: 'the-state' }, TRIAL],
    [{ error: 'access_denied', error_description: 'Call this number' }, TRIAL],
    [{ ...GOOD, code: "x'; rm -rf ~ #" }, TRIAL],
    [{ ...GOOD, code: '' }, TRIAL],
    [GOOD, null],
  ] as const)
    expect(answerTo(query, trial)).toEqual({ kind: 'stranger' });
});
