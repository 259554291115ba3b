/**
 * What an operation of the API is: one declaration of path, access, limit and schemas, from which the guard, the
 * OpenAPI description and the role manifest are derived. How a call is carried out stands in pipeline.ts.
 */
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
 * The credential an operation needs. `read` and `full` are management: an API key or a console member with that access.
 * `key` takes an API key and nothing else, but no personal one. `session` is a person signed in to any application, and
 * never a key; `person` takes their personal key as well. `token` is a session as the verification endpoint judges it: a
 * bearer token only, refused in the contract's own words; `holder` takes any API key as well, refused in the same words.
 * `client` is an OAuth client, by its id and secret or by an API key;
 * with `client_full` the key has to be a Full one. `agent` is a key that can manage, a personal one of the console too, and never
 * a session.
 */
export type AccessRule =
  'none' | 'session' | 'person' | 'token' | 'holder' | 'key' | 'client' | 'client_full' | 'read' | 'full' | 'agent';

/** Whether an OAuth client is asked for, which can show its secret in the body. */
export function isOfClients(access: AccessRule): boolean {
  return access === 'client' || access === 'client_full';
}

/** What an operation acts on: it is resolved, and hidden from those it does not belong to, before the body is read. */
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

/** The parameters that a path names. Of several paths: the parameters of all of them. */
export type ParamsOf<Path extends string> = { readonly [Name in ParameterOf<Path>]: string };

type InputOf<Schema> = Schema extends TSchema ? Static<Schema> : undefined;

type FileOf<Upload> = Upload extends UploadRule ? Uint8Array : undefined;

/** What a call acts on, as the pipeline has resolved it. */
export type TargetOf<On extends Scope> = On extends 'application'
  ? { readonly application: TenantApplication; readonly workspaceId: null }
  : On extends 'workspace'
    ? { readonly application: null; readonly workspaceId: string }
    : { readonly application: null; readonly workspaceId: null };

/** What a handler is given: everything in it has been authenticated, authorised and validated. */
export type Call<Rule extends AccessRule, On extends Scope, Path extends string, Query, Body, File> = TargetOf<On> & {
  readonly principal: PrincipalOf<Rule>;
  readonly actor: Author;
  readonly params: ParamsOf<Path>;
  readonly query: Query;
  readonly body: Body;
  /** The bytes that were sent, the handler's to use up; of any content. */
  readonly file: File;
  readonly context: RequestContext;
};

type Answer<Data> = Data | JsonText<Data> | Response;

/** Access or data that an operation gives away. */
export interface Gift {
  /** To whom and what, in a sentence. */
  readonly words: string;
  /** The fields of the body that give it; every call does where this is left out. */
  readonly fields?: readonly string[];
}

interface Declaration<Rule extends AccessRule, On extends Scope, Path extends string, Query, Body, Data, Upload> {
  readonly id: string;
  readonly method: Method;
  /** In Elysia's form: `/api/applications/:id`. */
  readonly path: Path;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly access: Rule;
  readonly scope: On;
  /** Only a console session of a member with this role will do; no key does. */
  readonly consoleRole?: 'owner';
  readonly limit: LimitClass;
  /** What is lost or cannot be taken back, in a sentence: agents have to confirm it. Without one, all that deletes. */
  readonly danger?: string;
  /** The access, secret or data it hands to somebody: agents have to confirm it. */
  readonly gives?: Gift;
  /** What a parameter of the path can be, where that is a list; anything else is not found. */
  readonly pathValues?: Readonly<Record<string, readonly string[]>>;
  readonly query?: Query;
  readonly body?: Body;
  /** The contract's "object (optional)": no body, an empty one and `{}` are the same. */
  readonly isBodyOptional?: boolean;
  /** Takes `application/x-www-form-urlencoded` as well, as OAuth clients send it (RFC 6749 appendix B). */
  readonly isFormAccepted?: boolean;
  /** The body is a file, raw or as the one field of a form. */
  readonly upload?: Upload;
  /** The success body: the `data` of an envelope, or the whole of a flat answer. */
  readonly data?: Data;
  /** Where the answer is not JSON. */
  readonly mediaType?: string;
  /** Sends an `ETag`, and nothing but 304 to whoever has the same already. */
  readonly isRevalidated?: boolean;
  /** Success sends the browser on (302). */
  readonly isRedirect?: boolean;
  /** Refusals of its own, beyond those that follow from access, limit and schemas. */
  readonly errors?: readonly ErrorCode[];
  /** `envelope` unless said otherwise. */
  readonly style?: Style;
  /** No tool for agents: other tools do it, or it is for a person in a browser. */
  readonly isNoTool?: boolean;
  /** Pages and test endpoints are no part of the described API. */
  readonly isUndocumented?: boolean;
}

/** An operation with its handler's types erased, as the pipeline and the descriptions see it. */
export interface Operation extends Declaration<AccessRule, Scope, string, TObject, TSchema, TSchema, UploadRule> {
  handle(call: Call<AccessRule, Scope, string, unknown, unknown, unknown>): unknown;
}

/** Every operation on a workspace takes it, for members of several. */
export const WORKSPACE_PARAMETER = 'workspaceId';

/** Whether a call answers with (a page of) a list. */
export function isList({ method, data }: Pick<Operation, 'method' | 'data'>): boolean {
  return method === 'GET' && (data?.['properties'] as object | undefined)?.hasOwnProperty('items') === true;
}

/** Tells agents what a call does, and whether it may have to be confirmed. Idempotent as RFC 9110 §9.2.2 has it. */
export function effectsOf({ method, danger, gives }: Pick<Operation, 'method' | 'danger' | 'gives'>) {
  const isDestructive = method === 'DELETE' || danger !== undefined;
  return {
    isReadOnly: method === 'GET',
    isDestructive,
    isConfirmed: isDestructive || gives !== undefined,
    isIdempotent: method === 'GET' || method === 'PUT' || method === 'DELETE',
  };
}

/** The query parameters that a list takes. */
export function parametersOfList({ query, scope }: Pick<Operation, 'query' | 'scope'>): string[] {
  return [...Object.keys(query?.properties ?? {}), ...(scope === 'workspace' ? [WORKSPACE_PARAMETER] : [])];
}

/**
 * Declares an operation. A handler returns its data, as a text where it has one already (of the whole answer), or a `Response`
 * where it needs the whole answer.
 */
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
