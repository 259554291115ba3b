/** Declares operations; guard, OpenAPI description and role manifest derive from them. pipeline.ts runs the calls. */
import type { Static, TObject, TSchema } from '@sinclair/typebox';
import type { ErrorCode } from '../core/error.ts';
import type {
  KeyPrincipal,
  OAuthClient,
  PersonalKeyPrincipal,
  PersonPrincipal,
  Principal,
  SessionPrincipal,
} from '../core/principal.ts';
import type { Author } from '../db/database.ts';
import type { TenantApplication } from '../store/applications.ts';
import type { Style } from './errors.ts';
import type { JsonText } from './json-text.ts';
import type { LimitClass } from './limits.ts';
import type { RequestContext } from './request-context.ts';
import type { UploadRule } from './upload.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Credential that an operation needs. `read` and `full` are management: an API key or a console member with that
 * access. `key` is an API key, but no personal one. `session` is a person signed in to any application, never a key;
 * `person` also takes their personal key. `token` is a session with the verification endpoint's codes, as bearer token
 * only; `holder` also takes any API key. `client` is an OAuth client, by id and secret or by an API key, which for
 * `client_full` must be a Full one. `agent` is a key that can manage, a personal one of the console too, and never a
 * session.
 */
export type AccessRule =
  'none' | 'session' | 'person' | 'token' | 'holder' | 'key' | 'client' | 'client_full' | 'read' | 'full' | 'agent';

/** Returns whether OAuth clients call the operation; their secret may be in the body. */
export function isOfClients(access: AccessRule): boolean {
  return access === 'client' || access === 'client_full';
}

/** Target of an operation. It is resolved before the body is read, and looks nonexistent to callers without access. */
export type Scope = 'instance' | 'workspace' | 'application';

type PrincipalOf<Rule extends AccessRule> = {
  none: null;
  session: SessionPrincipal;
  person: PersonPrincipal;
  token: SessionPrincipal;
  holder: Principal;
  key: KeyPrincipal;
  client: OAuthClient;
  client_full: OAuthClient;
  agent: KeyPrincipal | PersonalKeyPrincipal;
  read: Principal;
  full: Principal;
}[Rule];

type ParameterOf<Path extends string> = Path extends `${string}/:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? Name | ParameterOf<`/${Tail}`>
    : Rest
  : never;

/** Parameters that a path names; for several paths, the parameters of all of them. */
export type ParamsOf<Path extends string> = { readonly [Name in ParameterOf<Path>]: string };

type InputOf<Schema> = Schema extends TSchema ? Static<Schema> : undefined;

type FileOf<Upload> = Upload extends UploadRule ? Uint8Array : undefined;

export type TargetOf<On extends Scope> = On extends 'application'
  ? { readonly application: TenantApplication; readonly workspaceId: null }
  : On extends 'workspace'
    ? { readonly application: null; readonly workspaceId: string }
    : { readonly application: null; readonly workspaceId: null };

/** Argument of a handler: all of it has been authenticated, authorised and validated. */
export type Call<Rule extends AccessRule, On extends Scope, Path extends string, Query, Body, File> = TargetOf<On> & {
  readonly principal: PrincipalOf<Rule>;
  readonly actor: Author;
  readonly params: ParamsOf<Path>;
  readonly query: Query;
  readonly body: Body;
  /** Uploaded bytes of any content, which the handler may overwrite and free. */
  readonly file: File;
  readonly context: RequestContext;
};

type Answer<Data> = Data | JsonText<Data> | Response | ReadableStream<Uint8Array>;

export interface Payload {
  /** Recipient and content, in a sentence. */
  readonly words: string;
  /** Body fields that give it away; without them, every call does. */
  readonly fields?: readonly string[];
}

interface Declaration<Rule extends AccessRule, On extends Scope, Path extends string, Query, Body, Data, Upload> {
  readonly id: string;
  readonly method: Method;
  /** Path in Elysia's syntax: `/api/applications/:id`. */
  readonly path: Path;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly access: Rule;
  readonly scope: On;
  /** Requires a console session of a member with this role; refuses every key. */
  readonly consoleRole?: 'owner';
  readonly limit: LimitClass;
  /** Loss or irreversible effect, in a sentence: agents must confirm it. DELETE needs no sentence for that. */
  readonly danger?: string;
  /** Access, secret or data that it hands over: agents must confirm it. */
  readonly gives?: Payload;
  /** Allowed values of a path parameter; any other is not found. */
  readonly pathValues?: Readonly<Record<string, readonly string[]>>;
  readonly query?: Query;
  readonly body?: Body;
  /** "object (optional)" in the contract: no body, an empty one and `{}` are the same. */
  readonly isBodyOptional?: boolean;
  /** Also accepts `application/x-www-form-urlencoded`, which OAuth clients send (RFC 6749 appendix B). */
  readonly isFormAccepted?: boolean;
  /** The body is a file, raw or as the one field of a form. */
  readonly upload?: Upload;
  /** The success body: the `data` of an envelope, or the whole of a flat answer. */
  readonly data?: Data;
  readonly mediaType?: string;
  /** Sends an `ETag`, and 304 to clients that already have the answer. */
  readonly isRevalidated?: boolean;
  /** Success is 201 (RFC 9110 §15.3.2), where a specification asks for it. */
  readonly isCreated?: boolean;
  /** Success redirects the browser (302). */
  readonly isRedirect?: boolean;
  /** Refusals beyond those that follow from access, limit and schemas. */
  readonly errors?: readonly ErrorCode[];
  /** `envelope` by default. */
  readonly style?: Style;
  /** Offers no tool to agents: other tools do it, or it is for a person in a browser. */
  readonly isNoTool?: boolean;
  /** Excludes it from the API description, as pages and test endpoints are. */
  readonly isUndocumented?: boolean;
}

/** An operation with its handler's types erased, as the pipeline and the descriptions see it. */
export interface Operation extends Declaration<AccessRule, Scope, string, TObject, TSchema, TSchema, UploadRule> {
  handle(call: Call<AccessRule, Scope, string, unknown, unknown, unknown>): unknown;
}

/** Query parameter of every workspace operation, for members of several. */
export const WORKSPACE_PARAMETER = 'workspaceId';

export function isList({ method, data }: Pick<Operation, 'method' | 'data'>): boolean {
  return method === 'GET' && (data?.['properties'] as object | undefined)?.hasOwnProperty('items') === true;
}

/** Returns what a call does and whether agents must confirm it. Idempotent as defined in RFC 9110 §9.2.2. */
export function effectsOf({ method, danger, gives }: Pick<Operation, 'method' | 'danger' | 'gives'>) {
  const isDestructive = method === 'DELETE' || danger !== undefined;
  return {
    isReadOnly: method === 'GET',
    isDestructive,
    isConfirmed: isDestructive || gives !== undefined,
    isIdempotent: method === 'GET' || method === 'PUT' || method === 'DELETE',
  };
}

/** Returns what a call loses, in a sentence; null if it loses nothing. */
export function dangerOf(operation: Pick<Operation, 'method' | 'danger' | 'gives' | 'summary'>): string | null {
  return effectsOf(operation).isDestructive
    ? (operation.danger ?? `${operation.summary}: this cannot be undone.`)
    : null;
}

export function parametersOfList({ query, scope }: Pick<Operation, 'query' | 'scope'>): string[] {
  return [...Object.keys(query?.properties ?? {}), ...(scope === 'workspace' ? [WORKSPACE_PARAMETER] : [])];
}

/** Declares an operation. Its handler returns data, a `JsonText` or `Response` of the whole answer, or an event stream. */
export function operation<
  const Rule extends AccessRule,
  const On extends Scope,
  const Path extends string,
  Query extends TObject | undefined = undefined,
  Body extends TSchema | undefined = undefined,
  Data extends TSchema | undefined = undefined,
  Upload extends UploadRule | undefined = undefined,
>(
  declaration: Declaration<Rule, On, Path, Query, Body, Data, Upload> & {
    handle(
      call: Call<Rule, On, Path, InputOf<Query>, InputOf<Body>, FileOf<Upload>>,
    ): Answer<InputOf<Data>> | Promise<Answer<InputOf<Data>>>;
  },
): Operation {
  return declaration as unknown as Operation;
}
