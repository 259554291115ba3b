/** Schemas of the device grant: as in RFC 8628 for the device, as in the rest of the account API for the person. */
import { type Static, type TProperties, Type } from '@sinclair/typebox';
import {
  Choice,
  Email,
  Id,
  Input,
  LINE_PATTERN,
  Name,
  NewSecret,
  Nullable,
  PageOf,
  SlugsHeld,
  Timestamp,
} from '../../http/schemas.ts';
import { ApiKeySchema } from '../api-keys/model.ts';
import { DEVICE_GRANT_STATUSES } from '../../store/device-grants.ts';
import { KEY_DAYS_PATTERN, KEY_DAYS_REMEDY } from './key-days.ts';

export const DEVICE_GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

/** Parameters of an OAuth client; unknown ones are ignored (RFC 6749 §3.1). */
export const OAuthParameters = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { remedy: 'Give a JSON object, or a form.' });

const ClientId = () =>
  Type.String({
    minLength: 1,
    maxLength: 100,
    remedy: 'Give the clientId of an application.',
    examples: ['cli_01kat1h5ppe3bv2d9g3wq5r1xm'],
  });

export const DeviceCodeInput = OAuthParameters({
  client_id: ClientId(),
  device_name: Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: `^${LINE_PATTERN}$`,
      description: 'Name that the person sees when approving, and of the key.',
      remedy: 'Give a name of at most 100 characters in one line.',
      examples: ['Ada’s laptop'],
    }),
  ),
  key_days: Type.Optional(
    Type.String({
      pattern: KEY_DAYS_PATTERN,
      description:
        'Days after which the key ends, 1 to 3650, or `never`. Default: 90 for the console, never for applications.',
      remedy: KEY_DAYS_REMEDY,
      examples: ['30'],
    }),
  ),
});
export type DeviceCodeInput = Static<typeof DeviceCodeInput>;

export const DeviceCode = Type.Object({
  device_code: NewSecret('deviceCode', 'For the device only; returned once, in plain text.'),
  user_code: Type.String({ description: 'For the person.', examples: ['WDJB-MJHT'] }),
  verification_uri: Type.String({ format: 'uri', examples: ['https://auth.example.com/device'] }),
  verification_uri_complete: Type.String({
    format: 'uri',
    examples: ['https://auth.example.com/device?code=WDJB-MJHT'],
  }),
  expires_in: Type.Integer({ description: 'Seconds.', examples: [900] }),
  interval: Type.Integer({ description: 'Seconds to wait between two polls.', examples: [5] }),
});
export type DeviceCode = Static<typeof DeviceCode>;

export const DeviceTokenInput = OAuthParameters({
  device_code: Type.String({ minLength: 1, maxLength: 200, remedy: 'Give the device_code that device/code answered.' }),
  client_id: ClientId(),
  grant_type: Type.Optional(
    Type.String({ maxLength: 200, remedy: `Give ${DEVICE_GRANT_TYPE}.`, examples: [DEVICE_GRANT_TYPE] }),
  ),
});
export type DeviceTokenInput = Static<typeof DeviceTokenInput>;

export const DeviceToken = Type.Object({
  access_token: NewSecret('apiKey', 'A personal key; returned once, in plain text.'),
  token_type: Type.String({ examples: ['Bearer'] }),
  scope: Type.Optional(Type.Null({ description: 'Omitted in the answer to a form.' })),
});
export type DeviceToken = Static<typeof DeviceToken>;

const UserCode = () =>
  Type.String({
    minLength: 1,
    description: 'The user code as the device shows it; case, spaces and hyphens do not matter.',
    remedy: 'Give the code that your device shows.',
    examples: ['WDJB-MJHT'],
  });

export const UserCodeQuery = Type.Object({ user_code: UserCode() });
export const UserCodeInput = Input({ user_code: UserCode() }, { $id: 'UserCodeInput' });

export const DeviceRequest = Type.Object({
  userCode: Type.String({ examples: ['WDJB-MJHT'] }),
  status: Choice(DEVICE_GRANT_STATUSES, { $id: 'DeviceGrantStatus' }),
  application: Type.Object({
    id: Id('app'),
    clientId: Type.String({ examples: ['cli_01kat1h5ppe3bv2d9g3wq5r1xm'] }),
    name: Type.String(),
    logoUrl: Nullable(Type.String({ format: 'uri' })),
  }),
  device: Type.Object(
    {
      name: Nullable(Type.String()),
      ip: Nullable(Type.String()),
      ipCountry: Nullable(Type.String()),
      userAgent: Nullable(Type.String()),
    },
    { description: 'What the device reports about itself, and where it asked from.' },
  ),
  grants: Type.Object(
    {
      actsAs: Type.Object({ userId: Id('usr'), email: Email(), name: Nullable(Type.String()) }),
      roles: SlugsHeld(),
      scopes: SlugsHeld(),
      memberships: SlugsHeld(),
      workspaces: Type.Array(Type.Object({ workspaceId: Id('wsp'), name: Type.String(), role: Type.String() }), {
        description: 'Workspaces that the key could manage, with these rights; only from the console.',
      }),
    },
    { description: 'What the device could do, as of now.' },
  ),
  keyEndsAt: Nullable(Timestamp()),
  requestedAt: Timestamp(),
  expiresAt: Timestamp(),
});
export type DeviceRequest = Static<typeof DeviceRequest>;

export const DeviceDecision = Type.Object(
  { status: Choice(DEVICE_GRANT_STATUSES, { $id: 'DeviceGrantStatus' }) },
  { $id: 'DeviceDecision' },
);
export type DeviceDecision = Static<typeof DeviceDecision>;

export const Device = Type.Object(
  {
    id: ApiKeySchema.properties.id,
    name: ApiKeySchema.properties.name,
    prefix: ApiKeySchema.properties.prefix,
    application: Type.Object({ id: Id('app'), name: Type.String() }),
    ip: Nullable(Type.String({ description: 'Address that the device asked from; kept for 30 days.' })),
    ipCountry: Nullable(Type.String()),
    createdAt: Timestamp(),
    lastUsedAt: ApiKeySchema.properties.lastUsedAt,
    expiresAt: ApiKeySchema.properties.expiresAt,
  },
  { $id: 'Device' },
);
export type DeviceRecord = Static<typeof Device>;

export const DevicePage = PageOf(Device);
export const DevicePatch = Input({ name: Name() });
export const DeviceRevoked = Type.Object({ id: Id('key') });
