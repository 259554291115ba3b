/** Looks up the operations of the API that commands call, as the build described them. */
import type { operations } from '../../client/generated/api.ts';
import { operationsText } from './generated/operations.ts';

export interface FieldDescription {
  readonly type?: string | readonly string[] | undefined;
  readonly enum?: readonly string[] | undefined;
  readonly description?: string | undefined;
}

export interface OperationDescription {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Template such as `/api/applications/{id}`. */
  readonly path: string;
  readonly summary: string;
  /** Loss that a call means, in a sentence: commands ask before it. */
  readonly danger?: string;
  readonly inPath: readonly string[];
  readonly inQuery: readonly string[];
  readonly required: readonly string[];
  /** Path, query and body together: no operation has a name twice. */
  readonly fields: Readonly<Record<string, FieldDescription>>;
}

export type OperationId = keyof operations;

type Named<Part> = Part extends object ? keyof Part & string : never;

type BodyOf<Id extends OperationId> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? Body
  : never;

/** Names of an operation's fields, wherever they travel. */
export type FieldOf<Id extends OperationId> =
  | Named<BodyOf<Id>>
  | Named<NonNullable<operations[Id]['parameters']['query']>>
  | Named<NonNullable<operations[Id]['parameters']['path']>>;

export type DataOf<Id extends OperationId> = operations[Id] extends {
  responses: { 200: { content: { 'application/json': { data: infer Data } } } };
}
  ? Data
  : never;

export type RowOf<Id extends OperationId> = DataOf<Id> extends { items: (infer Row)[] } ? Row : DataOf<Id>;

const described = JSON.parse(operationsText) as Readonly<Record<string, OperationDescription>>;

export function operationDescription(id: OperationId): OperationDescription {
  const found = described[id];
  if (found === undefined) throw new Error(`the build described no operation ${id}`);
  return found;
}
