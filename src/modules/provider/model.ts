import { type Static, Type } from '@sinclair/typebox';
import { Id, Input, Name, Nullable, PageOf, Timestamp } from '../../http/schemas.ts';
import { SessionsEndedCount } from '../sign-in/model.ts';

/** A credential issued by a provider: printable ASCII without spaces. */
const Credential = (maxLength: number, remedy: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[\\x21-\\x7e]+$', remedy });

export const ProviderInput = Input({
  issuer: Type.Optional(
    Type.String({
      description: 'An OpenID Connect issuer, as in its discovery document; Google’s if omitted.',
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
          description: 'The client in use: the application’s own, else the instance’s; null if there is none.',
        }),
      ),
    ),
    issuer: Nullable(Type.String()),
    clientId: Nullable(Type.String()),
    name: Nullable(Type.String({ description: 'Label of the button.' })),
    speaksFor: Nullable(
      Type.Unsafe<'everyone' | 'workspace'>(
        Type.String({
          enum: ['everyone', 'workspace'],
          description:
            'Whose addresses it can prove. `workspace`: new people, and people known only to the application’s ' +
            'workspace; others sign in by another method once and connect it from their account. The instance’s ' +
            'own client and Google prove addresses for everyone.',
        }),
      ),
    ),
    redirectUri: Type.String({ description: 'Register this address with the provider.' }),
  },
  { $id: 'IdentityProvider' },
);
export type ProviderRecord = Static<typeof ProviderRecordSchema>;

export const StartQuery = Type.Object({
  clientId: Type.Optional(Type.String({ description: 'The application; the console if omitted.' })),
  returnTo: Type.Optional(
    Type.String({
      description: 'A registered return URL of the application, or a page of this server; its sign-in page if omitted.',
    }),
  ),
  locale: Type.Optional(
    Type.String({
      description: 'BCP 47; the person’s `locale` at the first sign-in. The browser’s first language if omitted.',
    }),
  ),
  timezone: Type.Optional(
    Type.String({
      description: 'IANA zone of the browser; the person’s `timezone` at the first sign-in.',
      examples: ['Europe/Vienna'],
    }),
  ),
});
export type StartQuery = Static<typeof StartQuery>;

/** The provider's callback parameters (RFC 6749 §4.1.2, RFC 9207); unknown ones are ignored. */
export const CallbackQuery = Type.Object({
  state: Type.Optional(Type.String({ description: 'The state that the flow began with; valid once.' })),
  code: Type.Optional(Type.String({ description: 'Authorization code from the provider.' })),
  iss: Type.Optional(
    Type.String({ description: 'The issuer that answers; must be the one that was asked (RFC 9207).' }),
  ),
  error: Type.Optional(Type.String({ description: 'Error code of the provider’s refusal.' })),
});
export type CallbackQuery = Static<typeof CallbackQuery>;

export const LinkInput = Input({
  returnTo: Type.Optional(
    Type.String({
      description: 'A registered return URL, or a page of this server; the account page if omitted.',
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
    email: Nullable(Type.String({ description: 'The address that the provider sent last.' })),
    createdAt: Timestamp(),
    lastUsedAt: Timestamp(),
  },
  { $id: 'ProviderIdentity' },
);
export type IdentityRecord = Static<typeof IdentitySchema>;

export const IdentityPage = PageOf(IdentitySchema);

export const IdentityRemoved = Type.Object({ id: Id('idp'), sessionsEnded: SessionsEndedCount });
export type IdentityRemoved = Static<typeof IdentityRemoved>;
