/** Schemas of the seed file, of the call that applies it, and of its result. Field names are those of the API. */
import { type Static, Type } from '@sinclair/typebox';
import { Choice, Email, Input, Nullable, Slug } from '../../http/schemas.ts';
import { ApplicationKeyInput, WorkspaceKeyInput } from '../api-keys/model.ts';
import { ApplicationInput, ApplicationSchema } from '../applications/model.ts';
import { GrantInput } from '../grants/model.ts';
import { ImportProfile, ImportRow } from '../import/model.ts';
import { ProviderInput } from '../provider/model.ts';
import { WebhookInput, WebhookPatch } from '../webhooks/model.ts';

const MAX_APPLICATIONS = 1000;
const MAX_GRANTS = 1000;
const MAX_KEYS = 1000;

/** A reference to the environment variable that holds a secret. */
const EnvironmentReference = Input(
  {
    env: Type.String({
      pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$',
      remedy: 'Give the name of an environment variable, such as SHOP_KEY.',
      examples: ['SHOP_KEY'],
    }),
  },
  {
    $id: 'EnvironmentReference',
    description: 'The variable that holds the secret, where the file is applied.',
    remedy: 'Give {"env": "NAME"}: secrets stand in the environment, not in the file.',
  },
);

const { slug, stage, signinGate, betaRequestPolicy } = ApplicationSchema.properties;
const { slug: _slug, ...settings } = ApplicationInput.properties;
const { clientSecret: _secret, ...provider } = ProviderInput.properties;
const { roleSlugs, scopeSlugs, membershipSlugs } = ImportRow.properties;
const { memberships, ...keyFields } = ApplicationKeyInput.properties;
const {
  applicationIds: _ids,
  roles: _roles,
  scopes: _scopes,
  memberships: _memberships,
  ...workspaceKeyFields
} = WorkspaceKeyInput.properties;

const token = { token: EnvironmentReference };
const Grants = () =>
  Type.Optional(Type.Array(GrantInput, { maxItems: MAX_GRANTS, remedy: `Give a list of at most ${MAX_GRANTS}.` }));

export const SeedUser = Input(
  {
    email: ImportRow.properties.email,
    ...ImportProfile.properties,
    roles: roleSlugs,
    scopes: scopeSlugs,
    groups: membershipSlugs,
  },
  { $id: 'SeedUser', description: 'Added, or filled where it is blank; nothing is taken away. Nobody is mailed.' },
);
export type SeedUser = Static<typeof SeedUser>;

export const SeedWebhook = Input(
  {
    ...WebhookInput.properties,
    status: WebhookPatch.properties.status,
    secret: Type.Optional(EnvironmentReference),
  },
  { $id: 'SeedWebhook', description: 'Known by its address. Without `secret` it is given one of its own.' },
);
export type SeedWebhook = Static<typeof SeedWebhook>;

export const SeedKey = Input({ ...keyFields, groups: memberships, ...token }, { $id: 'SeedKey' });
export type SeedKey = Static<typeof SeedKey>;

export const SeedWorkspaceKey = Input(
  {
    ...workspaceKeyFields,
    applications: Type.Optional(
      Type.Array(Slug(), {
        minItems: 1,
        maxItems: 200,
        description: 'Slugs of the only applications that it reaches; all of the workspace where left out.',
        remedy: 'Give 1 to 200 slugs of applications, or leave it out for all.',
      }),
    ),
    ...token,
  },
  { $id: 'SeedWorkspaceKey' },
);
export type SeedWorkspaceKey = Static<typeof SeedWorkspaceKey>;

export const SeedProvider = Input({ ...provider, clientSecret: EnvironmentReference }, { $id: 'SeedProvider' });
export type SeedProvider = Static<typeof SeedProvider>;

export const SeedApplication = Input(
  {
    slug,
    ...settings,
    stage: Type.Optional(stage),
    signinGate: Type.Optional(signinGate),
    betaRequestPolicy: Type.Optional(betaRequestPolicy),
    identityProvider: Type.Optional(SeedProvider),
    roles: Grants(),
    standardRoles: Type.Optional(
      Type.Boolean({
        description:
          'A new application has the roles `user` and `developer` besides those listed; false leaves them out.',
        remedy: 'Give true or false.',
      }),
    ),
    scopes: Grants(),
    groups: Grants(),
    webhooks: Type.Optional(Type.Array(SeedWebhook, { maxItems: 20, remedy: 'Give a list of at most 20.' })),
    apiKeys: Type.Optional(Type.Array(SeedKey, { maxItems: MAX_KEYS, remedy: 'Give a list of keys.' })),
    allowlist: Type.Optional(Type.Array(Email(), { remedy: 'Give a list of e-mail addresses.' })),
    users: Type.Optional(Type.Array(SeedUser, { remedy: 'Give a list of users.' })),
  },
  {
    $id: 'SeedApplication',
    description: 'Known by its slug. What is left out stays as it is; a stage only moves forward.',
  },
);
export type SeedApplication = Static<typeof SeedApplication>;

export const SeedDocument = Input(
  {
    $schema: Type.Optional(Type.String({ description: 'For editors.', examples: ['gatehouse.schema.json'] })),
    applications: Type.Optional(
      Type.Array(SeedApplication, {
        maxItems: MAX_APPLICATIONS,
        remedy: `Give a list of at most ${MAX_APPLICATIONS}.`,
      }),
    ),
    apiKeys: Type.Optional(
      Type.Array(SeedWorkspaceKey, {
        maxItems: MAX_KEYS,
        description: 'Of the workspace.',
        remedy: 'Give a list of keys.',
      }),
    ),
  },
  { $id: 'SeedDocument' },
);
export type SeedDocument = Static<typeof SeedDocument>;

const common = {
  secrets: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 2000 }), {
      description: 'What the variables hold that are referred to, by name.',
      remedy: 'Give an object of texts by the names of the variables.',
      examples: [{ SHOP_KEY: 'eak_…' }],
    }),
  ),
  dryRun: Type.Optional(Type.Boolean({ description: 'Only says what would change.', remedy: 'Give true or false.' })),
};

export const ApplyInput = Input({ document: SeedDocument, ...common });
export const ApplyApplicationInput = Input({ application: SeedApplication, ...common });

const CHANGED_KINDS = [
  'application',
  'role',
  'scope',
  'group',
  'provider',
  'webhook',
  'key',
  'allowlist',
  'user',
] as const;
export type ChangedKind = (typeof CHANGED_KINDS)[number];

export const SeedChange = Type.Object(
  {
    action: Choice(['create', 'update'], { $id: 'SeedAction' }),
    kind: Choice(CHANGED_KINDS, { $id: 'SeedKind' }),
    application: Nullable(
      Type.String({ description: 'Its slug; null for what is of the workspace.', examples: ['shop'] }),
    ),
    name: Type.String({ description: 'The slug, address or name that it is known by.', examples: ['editor'] }),
    fields: Type.Array(
      Type.Object({
        field: Type.String({ examples: ['name'] }),
        from: Nullable(Type.String({ description: 'As JSON; null for what is not shown.', examples: ['"Writer"'] })),
        to: Nullable(Type.String({ examples: ['"Editor"'] })),
      }),
      { description: 'Of what is changed.' },
    ),
  },
  { $id: 'SeedChange' },
);
export type SeedChange = Static<typeof SeedChange>;

export const ApplyResult = Type.Object(
  {
    changes: Type.Array(SeedChange, { description: 'What was changed, or would be, in this order.' }),
    unchanged: Type.Integer({ description: 'How many things are as the document has them.', examples: [12] }),
    notes: Type.Array(
      Type.Object({
        path: Type.String({ examples: ['document.applications.0.stage'] }),
        message: Type.String({ examples: ['It stays live: a stage only moves forward.'] }),
      }),
      { description: 'What was left as it is, and why.' },
    ),
    skipped: Type.Array(
      Type.Object({
        application: Type.String({ examples: ['shop'] }),
        email: Email(),
        error: Type.String({ description: 'As an import has it.', examples: ['user_deleted'] }),
      }),
      { description: 'Users who cannot be added; the others are.' },
    ),
    signingSecrets: Type.Array(
      Type.Object({
        application: Type.String({ examples: ['shop'] }),
        url: Type.String(),
        signingSecret: Type.String({ description: 'In plain text, this once.', examples: ['whsec_…'] }),
      }),
      { description: 'Of new webhooks whose secret was not given.' },
    ),
  },
  { $id: 'ApplyResult' },
);
export type ApplyResult = Static<typeof ApplyResult>;
