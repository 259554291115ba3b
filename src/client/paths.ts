/** Derives request and response types of each operation from the types of the OpenAPI description. */
import type { paths } from './generated/api.ts';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

export interface Given {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

type JsonOf<Operation> = Operation extends { responses: { 200: { content: { 'application/json': infer Body } } } }
  ? Body
  : never;

/** The `data` of a response, or the whole body when it has no `data`. */
type DataOf<Body> = Body extends { data: infer Data } ? Data : Body;

/** Paths below `/api/` that support a method. */
export type PathOf<Verb extends Method> = {
  [Path in keyof paths]: Path extends `/api/${string}`
    ? [JsonOf<paths[Path][Verb]>] extends [never]
      ? never
      : Path
    : never;
}[keyof paths];

export type DataAt<Path extends keyof paths, Verb extends Method> = DataOf<JsonOf<paths[Path][Verb]>>;

export type ListPath = {
  [Path in PathOf<'get'>]: DataAt<Path, 'get'> extends { items: unknown[]; nextCursor: string | null } ? Path : never;
}[PathOf<'get'>];

export type ItemAt<Path extends ListPath> = DataAt<Path, 'get'> extends { items: (infer Item)[] } ? Item : never;

/** One argument of a call: absent if the operation has none, optional if nothing in it is required. */
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

/** Argument after the path; optional if the operation requires nothing. */
export type GivenAt<Path extends keyof paths, Verb extends Method> =
  Record<never, never> extends GivenTo<paths[Path][Verb]>
    ? [given?: GivenTo<paths[Path][Verb]>]
    : [given: GivenTo<paths[Path][Verb]>];
