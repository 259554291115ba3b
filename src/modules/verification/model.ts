/** Schemas of verification. */
import { type TProperties, Type } from '@sinclair/typebox';
import { Choice, Email, Id, Input, Nullable, Slug, Timestamp } from '../../http/schemas.ts';

const Region = Type.Object({
  country: Nullable(Type.String()),
  uiLocale: Nullable(Type.String()),
  timeZone: Nullable(Type.String()),
  currency: Nullable(Type.String()),
  measurementSystem: Nullable(Type.String()),
});

const envelopeFields = {
  userId: Id('usr'),
  username: Nullable(Type.String({ description: 'Handle in this application; null until set.' })),
  email: Email(),
  name: Type.String({ description: 'The same as `fullName`, kept for compatibility.' }),
  fullName: Type.String({ description: 'Empty where it is not known, as the other names.' }),
  givenName: Type.String(),
  familyName: Type.String(),
  avatarUrl: Nullable(
    Type.String({ format: 'uri', description: 'Null where there is neither an upload nor a provider’s picture.' }),
  ),
  locale: Type.String({ description: 'BCP 47; that of the first sign-in until it is changed, else `en`.' }),
  timezone: Type.String({
    description: 'IANA zone; the browser’s of the first sign-in until it is changed, else `UTC`.',
  }),
  region: Nullable(Region),
  applicationId: Id('app'),
  status: Type.String({ examples: ['active'] }),
  roles: Type.Array(Slug()),
  scopes: Type.Array(Slug()),
  memberships: Type.Array(Slug()),
  avatarSizes: Nullable(Type.Array(Type.Integer(), { examples: [[128, 256, 1200]] })),
  avatarUpdatedAt: Nullable(Timestamp()),
  bannerSizes: Nullable(Type.Array(Type.Integer(), { examples: [[768, 1500, 2400]] })),
  bannerUpdatedAt: Nullable(Timestamp()),
  expiresAt: Nullable(Timestamp({ description: 'Null only for an API key without an expiry.' })),
} satisfies TProperties;

const EnvelopeData = Type.Object(envelopeFields, { $id: 'Envelope' });

export const SessionVerification = Type.Object({ ok: Type.Boolean({ examples: [true] }), ...envelopeFields });

/** Why a token is refused by `/api/v1/verify`, as its stable `errorMessage`. */
const TOKEN_REFUSALS = ['invalid_token', 'membership_blocked', 'revoked', 'expired'] as const;
export type TokenRefusal = (typeof TOKEN_REFUSALS)[number];

export const VerifyInput = Input({
  token: Type.String({
    isAnyText: true,
    remedy: 'Give the token to verify, as a text.',
    description: 'An end-user session token, or an API key of the same application. Any other text is `invalid_token`.',
  }),
});

export const KeyVerification = Type.Object({
  success: Type.Boolean(),
  data: Type.Optional(EnvelopeData),
  errorMessage: Type.Optional(Choice(TOKEN_REFUSALS)),
});

export const MeQuery = Type.Object({
  applicationId: Type.Optional(
    Type.String({
      description:
        'An application of the session’s workspace that the person is a member of; by default the session’s own. From the console any.',
    }),
  ),
});

export const MeRoles = Type.Object({ roles: Type.Array(Slug()) });
export const MeScopes = Type.Object({ scopes: Type.Array(Slug()) });
export const MeMemberships = Type.Object({ memberships: Type.Array(Slug()) });
