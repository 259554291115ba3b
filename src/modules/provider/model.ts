/** Schemas of identity provider settings, of the provider flow, and of people's identities. */
import { type Static, Type } from '@sinclair/typebox';
import { Id, Input, Name, Nullable, PageOf, Timestamp } from '../../http/schemas.ts';
import { SessionsEndedCount } from '../sign-in/model.ts';

/** A credential issued by a provider: printable ASCII without spaces. */
const Credential = (maxLength: number, remedy: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[\\x21-\\x7e]+$', remedy });

export const ProviderInput = Input({
  issuer: Type.Optional(
    Type.String({
      description: 'An OpenID Connect issuer, as its discovery document names itself. Google’s when left out.',
      maxLength: 500,
      remedy: 'Give the https address of an OpenID Connect issuer.',
      examples: ['https://accounts.google.com'],
    }),
  ),
  clientId: Credential(500, 'Give the client id that the provider handed out.'),
  clientSecret: Credential(2000, 'Give the client secret that the provider handed out.'),
  name: Type.Optional(Nullable(Name())),
});
export type ProviderInput = Static<typeof ProviderInput>;

export const ProviderRecordSchema = Type.Object(
  {
    source: Nullable(
      Type.Unsafe<'application' | 'instance'>(
        Type.String({
          enum: ['application', 'instance'],
          description:
            'Whose client is in effect: the application’s own, else the instance’s; null where there is none.',
        }),
      ),
    ),
    issuer: Nullable(Type.String()),
    clientId: Nullable(Type.String()),
    name: Nullable(Type.String({ description: 'What people read on the button.' })),
    speaksFor: Nullable(
      Type.Unsafe<'everyone' | 'workspace'>(
        Type.String({
          enum: ['everyone', 'workspace'],
          description:
            'Whose addresses its word is taken for. `workspace`: new people, and those whom the application’s workspace alone ' +
            'knows; others sign in another way once and connect it from their account. The instance’s own client and Google ' +
            'speak for everyone.',
        }),
      ),
    ),
    redirectUri: Type.String({ description: 'Register this address with the provider.' }),
  },
  { $id: 'IdentityProvider' },
);
export type ProviderRecord = Static<typeof ProviderRecordSchema>;

export const StartQuery = Type.Object({
  clientId: Type.Optional(Type.String({ description: 'The application; the console when left out.' })),
  returnTo: Type.Optional(
    Type.String({
      description:
        'A registered return URL of the application, or a page of this server; its sign-in page when left out.',
    }),
  ),
  locale: Type.Optional(
    Type.String({
      description: 'BCP 47; at the first sign-in the person’s `locale`. The browser’s first language when left out.',
    }),
  ),
  timezone: Type.Optional(
    Type.String({
      description: 'The IANA zone of the browser; at the first sign-in the person’s `timezone`.',
      examples: ['Europe/Vienna'],
    }),
  ),
});
export type StartQuery = Static<typeof StartQuery>;

/** The provider's callback parameters (RFC 6749 §4.1.2, RFC 9207); unknown ones are ignored. */
export const CallbackQuery = Type.Object({
  state: Type.Optional(Type.String({ description: 'What the flow was begun with; it is good once.' })),
  code: Type.Optional(Type.String({ description: 'For the identity, where the provider has proved it.' })),
  iss: Type.Optional(Type.String({ description: 'Who answers; must be the issuer that was asked.' })),
  error: Type.Optional(Type.String({ description: 'Why the provider has refused.' })),
});
export type CallbackQuery = Static<typeof CallbackQuery>;

export const LinkInput = Input({
  returnTo: Type.Optional(
    Type.String({
      description: 'A registered return URL, or a page of this server; the account page when left out.',
      maxLength: 2000,
      remedy: 'Give a registered return URL.',
    }),
  ),
});
export type LinkInput = Static<typeof LinkInput>;

export const LinkStarted = Type.Object({
  authorizationUrl: Type.String({
    description: 'Where to send the browser. It ends at `returnTo#linked=provider` or `returnTo#error=<code>`.',
  }),
});

export const IdentitySchema = Type.Object(
  {
    id: Id('idp'),
    issuer: Type.String(),
    name: Type.String(),
    email: Nullable(Type.String({ description: 'As the provider gave it last.' })),
    createdAt: Timestamp(),
    lastUsedAt: Timestamp(),
  },
  { $id: 'ProviderIdentity' },
);
export type IdentityRecord = Static<typeof IdentitySchema>;

export const IdentityPage = PageOf(IdentitySchema);

export const IdentityRemoved = Type.Object({ id: Id('idp'), sessionsEnded: SessionsEndedCount });
export type IdentityRemoved = Static<typeof IdentityRemoved>;
