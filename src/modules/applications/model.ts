/** Schemas of applications. */
import { type Static, type TProperties, Type } from '@sinclair/typebox';
import { BETA_POLICIES, SIGNIN_GATES, STAGES } from '../../db/schema/applications.ts';
import { Choice, Id, Input, Nullable, Timestamp } from '../../http/schemas.ts';

const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '\\S',
  remedy: 'Give a name of 1 to 100 characters.',
});

const ApplicationSlug = Type.String({
  pattern: '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$',
  remedy: 'Give 1 to 63 of a-z, 0-9 and hyphens, not starting or ending with a hyphen.',
  examples: ['shop'],
});

const HttpUrl = Type.String({
  maxLength: 2000,
  pattern: '^https?://[^\\s/\\\\]+(?:/[^\\s\\\\]*)?$',
  remedy: 'Give an absolute http or https address, or null.',
  examples: ['https://shop.example.com/terms'],
});

const ReturnUrl = Type.String({
  minLength: 1,
  maxLength: 2000,
  remedy: 'Give an absolute https address.',
  examples: ['https://shop.example.com/signed-in'],
});

const legalUrls = { terms: Nullable(HttpUrl), privacy: Nullable(HttpUrl), imprint: Nullable(HttpUrl) };
const branding = {
  logoUrl: Nullable(HttpUrl),
  accentColor: Nullable(
    Type.String({ pattern: '^#[0-9a-fA-F]{6}$', remedy: 'Give a colour as #rrggbb, or null.', examples: ['#3b5bdb'] }),
  ),
};

const settings = {
  name: Name,
  slug: ApplicationSlug,
  returnUrls: Type.Array(ReturnUrl, { maxItems: 20, remedy: 'Give at most 20 addresses.' }),
  legalUrls: Input(optional(legalUrls)),
  branding: Input(optional(branding)),
  sessionTtlSeconds: Type.Integer({
    minimum: 300,
    maximum: 31_536_000,
    remedy: 'Give a whole number of seconds from 300 to 31536000 (365 days).',
  }),
};

export const ApplicationInput = Input(optional(settings));
export type ApplicationInput = Static<typeof ApplicationInput>;

export const Application = Type.Object({
  id: Id('app'),
  workspaceId: Id('wsp'),
  clientId: Type.String({ description: 'Public; not a credential.', examples: ['cli_01kat1h5ppe3bv2d9g3wq5r1xm'] }),
  slug: ApplicationSlug,
  name: Name,
  stage: Choice(STAGES),
  signinGate: Choice(SIGNIN_GATES),
  betaRequestPolicy: Choice(BETA_POLICIES),
  sessionTtlSeconds: Type.Integer({ examples: [2_592_000] }),
  returnUrls: Type.Array(ReturnUrl),
  legalUrls: Type.Object(legalUrls),
  branding: Type.Object(branding),
  archivedAt: Nullable(Timestamp()),
  deletedAt: Nullable(Timestamp()),
  purgeAfter: Nullable(Timestamp()),
  createdAt: Timestamp(),
  updatedAt: Timestamp(),
});
export type ApplicationRecord = Static<typeof Application>;

export const StageChange = Type.Composite([
  Application,
  Type.Object({
    warnings: Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
      description: 'What is still missing; nothing here stopped the change.',
    }),
  }),
]);
export type StageChange = Static<typeof StageChange>;

function optional<Properties extends TProperties>(properties: Properties) {
  return Type.Partial(Type.Object(properties)).properties;
}
