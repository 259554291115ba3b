/** What the calls of the API take and give, read from the types of its description. */
import type { paths } from './generated/api.ts';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** A call, whichever it is. */
export interface Given {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** What an operation answers with, where that is JSON. */
type JsonOf<Operation> = Operation extends { responses: { 200: { content: { 'application/json': infer Body } } } }
  ? Body
  : never;

/** What a call gives: the `data` of the answer, and all of it where it is written without one. */
type DataOf<Body> = Body extends { data: infer Data } ? Data : Body;

/** The paths below `/api/` that a method can be used on. */
export type PathOf<Verb extends Method> = {
  [Path in keyof paths]: Path extends `/api/${string}`
    ? [JsonOf<paths[Path][Verb]>] extends [never]
      ? never
      : Path
    : never;
}[keyof paths];

export type DataAt<Path extends keyof paths, Verb extends Method> = DataOf<JsonOf<paths[Path][Verb]>>;

/** The paths of lists. */
export type ListPath = {
  [Path in PathOf<'get'>]: DataAt<Path, 'get'> extends { items: unknown[]; nextCursor: string | null } ? Path : never;
}[PathOf<'get'>];

export type ItemAt<Path extends ListPath> = DataAt<Path, 'get'> extends { items: (infer Item)[] } ? Item : never;

/** One part of a call: left out where the operation has none, and optional where nothing in it must be given. */
type Part<Name extends string, Value> = [NonNullable<Value>] extends [never]
  ? unknown
  : undefined extends Value
    ? { readonly [Key in Name]?: NonNullable<Value> }
    : { readonly [Key in Name]: Value };

type BodyOf<Operation> = Operation extends { requestBody: { content: { 'application/json': infer Body } } }
  ? Body
  : Operation extends { requestBody?: { content: { 'application/json': infer Body } } }
    ? Body | undefined
    : undefined;

type GivenTo<Operation> = (Operation extends { parameters: { path?: unknown; query?: unknown } }
  ? Part<'path', Operation['parameters']['path']> & Part<'query', Operation['parameters']['query']>
  : unknown) &
  Part<'body', BodyOf<Operation>> & { readonly signal?: AbortSignal };

/** The argument beside the path; it may be left out where nothing must be given. */
export type GivenAt<Path extends keyof paths, Verb extends Method> =
  Record<never, never> extends GivenTo<paths[Path][Verb]>
    ? [given?: GivenTo<paths[Path][Verb]>]
    : [given: GivenTo<paths[Path][Verb]>];
