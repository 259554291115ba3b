/** `gatehouse openid`: sets up an application for other programs that sign people in by OpenID Connect. */
import { readFileSync } from 'node:fs';
import { StartupError } from '../../core/startup-error.ts';
import { UsageError } from '../arguments.ts';
import { readError } from '../read-error.ts';
import { findApp } from './find.ts';
import { fieldsFromFlags, flagsOf, type FlagSpec } from './flags.ts';
import { operationCommand, sendFields } from './operation-command.ts';
import { type DataOf, type FieldOf, operationDescription } from './operations.ts';
import { APP_OPERAND } from './path-operands.ts';
import { remoteCommand, type RemoteCommand } from './remote-command.ts';
import type { Facts } from './show.ts';

type Settings = DataOf<'getOpenId'>;

const RECORD: Facts<Settings> = {
  'Client id': 'clientId',
  Client: ({ clientType, hasSecret, jwks }) =>
    clientType === 'public'
      ? 'public, without a secret'
      : `confidential, ${jwks ? 'by private_key_jwt' : hasSecret ? 'by its secret' : 'without a secret yet'}`,
  'Redirect URIs': 'redirectUris',
  'After sign-out': 'postLogoutRedirectUris',
  'ID tokens': 'idTokenAlg',
  'Back-channel logout': ({ backchannelLogoutUri: uri, backchannelStatus: status }) =>
    uri === null ? null : status === 'quarantined' ? `${uri}, in quarantine` : uri,
  Issuer: 'issuer',
  Discovery: ({ endpoints }) => endpoints.discovery,
  Changed: 'updatedAt',
};

/** Returns the step that is missing; an empty text where none is. */
function nextStep({ redirectUris, clientType, hasSecret, jwks, backchannelStatus }: Settings, slug: string): string {
  if (redirectUris.length === 0) return `Next: gatehouse openid set ${slug} --redirect-uris https://…`;
  if (clientType === 'confidential' && !hasSecret && jwks === null) return `Next: gatehouse openid secret ${slug}`;
  return backchannelStatus === 'quarantined'
    ? 'Sign-outs are held. Once the endpoint works, set --backchannel-logout again: they are sent then.'
    : '';
}

const FLAGS = {
  'redirect-uris': {
    field: 'redirectUris',
    value: 'URIS',
    meaning: 'Addresses that people are sent to with the code, separated by commas; each is compared exactly.',
  },
  'post-logout-redirect-uris': {
    field: 'postLogoutRedirectUris',
    value: 'URIS',
    meaning: 'Addresses that people may be sent to after they have signed out.',
  },
  'client-type': 'clientType',
  'id-token-alg': 'idTokenAlg',
  'backchannel-logout': {
    field: 'backchannelLogoutUri',
    value: 'URI',
    meaning: 'Address that is told when a session ends; "" removes it.',
  },
  jwks: {
    field: 'jwks',
    value: 'FILE',
    meaning: 'JWK Set with the public keys of a client that authenticates by private_key_jwt; "" removes it.',
    convert: ({ text }, flag) => readJwks(text(flag) ?? ''),
  },
} as const satisfies Readonly<Record<string, FieldOf<'setOpenId'> | FlagSpec<FieldOf<'setOpenId'>>>>;

const SET = operationDescription('setOpenId');

/** @throws {StartupError} */
function readJwks(file: string): unknown {
  if (file === '') return null;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw readError(file, error);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new StartupError(`${file} is no JSON.`);
  }
}

export const OPENID: readonly RemoteCommand[] = [
  remoteCommand({
    name: 'openid show',
    summary: 'Show what another program needs to sign people in here',
    operands: [APP_OPERAND],
    async execute({ client, show, operands }) {
      const { id, slug } = await findApp(client, operands[0], '');
      const settings = await client.get('/api/applications/{id}/openid', { path: { id } });
      await show.record(settings, RECORD);
      const next = nextStep(settings, slug);
      if (next) await show.say(`\n${next}`);
    },
  }),
  remoteCommand({
    name: 'openid set',
    summary: 'Let another program sign people in by OpenID Connect; omitted settings keep their values',
    operands: [APP_OPERAND],
    ...flagsOf(SET, FLAGS),
    async execute(call) {
      const { client, show, operands } = call;
      const fields = fieldsFromFlags(call, 'openid set', { ...SET, required: [] }, FLAGS);
      if (Object.keys(fields).length === 0)
        throw new UsageError('Say what to change. See "gatehouse help openid set".');
      const { id, slug } = await findApp(client, operands[0], '');
      if (!('redirectUris' in fields)) {
        const { redirectUris } = await client.get('/api/applications/{id}/openid', { path: { id } });
        fields['redirectUris'] = redirectUris;
      }
      const settings = (await sendFields(call, SET, { id, ...fields })) as Settings;
      await show.record(settings, RECORD);
      const next = nextStep(settings, slug);
      if (next) await show.say(`\n${next}`);
    },
  }),
  operationCommand('removeOpenId', {
    name: 'openid off',
    isAppOperand: true,
    confirm: ({ label }) => [label, 'Nobody signs in by OpenID Connect any more, and those who did are signed out.'],
    done: (_, { label }) => `OpenID is off for ${label}.`,
  }),
  operationCommand('rotateApplicationSecret', {
    name: 'openid secret',
    summary: 'Make a new client secret; the old one stops working at once',
    isAppOperand: true,
    confirm: ({ label }) => [label, 'Whatever still sends the client secret in use is refused at once.'],
    record: { 'Client secret': 'clientSecret', Since: 'rotatedAt' },
    remark: () => 'The secret is shown this once.',
  }),
];
