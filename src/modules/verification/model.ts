import { type TProperties, Type } from '@sinclair/typebox';
import {
  Choice,
  Email,
  SlugsHeld,
  Id,
  Input,
  LanguageTag,
  Nullable,
  RegionSchema,
  Timestamp,
  TimeZone,
} from '../../http/schemas.ts';
import { MetadataObject } from '../../http/user-attributes.ts';
import { TOKEN_REFUSALS } from '../../store/applications.ts';

const envelopeFields = {
  userId: Id('usr'),
  username: Nullable(Type.String({ description: 'Handle in this application; null until set.' })),
  email: Email(),
  name: Type.String({ description: 'The same as `fullName`, kept for compatibility.' }),
  fullName: Type.String({ description: 'Empty if unknown, like the other names.' }),
  givenName: Type.String(),
  familyName: Type.String(),
  avatarUrl: Nullable(Type.String({ format: 'uri', description: 'Null without an upload or a provider’s picture.' })),
  locale: LanguageTag({ description: 'BCP 47; from the first sign-in until changed, else `en`.' }),
  timezone: TimeZone({
    description: 'IANA zone; from the first sign-in until changed, else `UTC`.',
  }),
  region: RegionSchema,
  applicationId: Id('app'),
  status: Type.String({ examples: ['active'] }),
  roles: SlugsHeld(),
  scopes: SlugsHeld(),
  memberships: SlugsHeld(),
  avatarSizes: Nullable(Type.Array(Type.Integer(), { examples: [[128, 256, 1200]] })),
  avatarUpdatedAt: Nullable(Timestamp()),
  bannerSizes: Nullable(Type.Array(Type.Integer(), { examples: [[768, 1500, 2400]] })),
  bannerUpdatedAt: Nullable(Timestamp()),
  expiresAt: Nullable(Timestamp({ description: 'Null only for an API key without an expiry.' })),
} satisfies TProperties;

const EnvelopeData = Type.Object(envelopeFields, { $id: 'Envelope' });

export const SessionVerification = Type.Intersect([Type.Object({ ok: Type.Literal(true) }), EnvelopeData]);

/** The reason why `/api/v1/verify` refuses a token, as its stable `errorMessage`. */
export type TokenRefusal = (typeof TOKEN_REFUSALS)[number];

export const INCLUDABLE = ['externalId', 'metadata'] as const;
export type Includable = (typeof INCLUDABLE)[number];

export const VerifyInput = Input({
  token: Type.String({
    isAnyText: true,
    remedy: 'Give the token to verify, as a text.',
    description: 'An end-user session token, or an API key of the same application. Any other text is `invalid_token`.',
  }),
  include: Type.Optional(
    Type.Array(Choice(INCLUDABLE), {
      maxItems: INCLUDABLE.length,
      remedy: 'Give a list with externalId, metadata or both.',
      description: 'Fields to add to `data`, as of now.',
    }),
  ),
});

const included = Type.Object({
  externalId: Type.Optional(Nullable(Type.String({ description: 'If included: their id in your own systems.' }))),
  metadata: Type.Optional(MetadataObject),
});

export const KeyVerification = Type.Union(
  [
    Type.Object(
      { success: Type.Literal(true), data: Type.Intersect([EnvelopeData, included]) },
      { $id: 'TokenAccepted' },
    ),
    Type.Object(
      { success: Type.Literal(false), errorMessage: Choice(TOKEN_REFUSALS, { $id: 'TokenRefusal' }) },
      { $id: 'TokenRefused' },
    ),
  ],
  { $id: 'Verdict' },
);

export const MeQuery = Type.Object({
  applicationId: Type.Optional(
    Type.String({
      description:
        'An application of the session’s workspace that the person is a member of; default the session’s own. From the console, any.',
    }),
  ),
});

export const MeRoles = Type.Object({ roles: SlugsHeld() });
export const MeScopes = Type.Object({ scopes: SlugsHeld() });
export const MeMemberships = Type.Object({ memberships: SlugsHeld() });
