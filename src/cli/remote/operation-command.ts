/** Derives a command from an operation of the API: its request, flags and help. The command adds names and words. */
import { UsageError, type Operand } from '../arguments.ts';
import { flagsOf, type FlagSpec, fieldsFromFlags } from './flags.ts';
import { operandsOf, type Resolved, resolvePath } from './path-operands.ts';
import {
  type DataOf,
  type FieldOf,
  type OperationDescription,
  operationDescription,
  type OperationId,
  type RowOf,
} from './operations.ts';
import {
  commaSeparated,
  type RemoteCall,
  remoteCommand,
  type RemoteCommand,
  type RemoteDefinition,
} from './remote-command.ts';
import type { Columns, Facts, ListPage } from './show.ts';

/** Target of a call: its path parameters, and the names that prompts and answers show. */
export interface CallTarget extends Resolved {
  readonly call: RemoteCall;
}

/** A positional argument that becomes a field of the body. */
interface OperandSpec<Field extends string> extends Omit<Operand, 'words'> {
  readonly field: Field;
  readonly words?: Readonly<Record<string, string>>;
  /** Splits the text at commas. */
  readonly isList?: boolean;
}

export interface CommandSpec<Id extends OperationId> extends Pick<RemoteDefinition, 'next' | 'options' | 'switches'> {
  readonly name: string;
  /** The operation's own summary by default. */
  readonly summary?: string;
  /** The application is the first operand instead of `--app`. */
  readonly isAppOperand?: boolean;
  readonly operands?: readonly OperandSpec<FieldOf<Id>>[];
  readonly flags?: Readonly<Record<string, FieldOf<Id> | FlagSpec<FieldOf<Id>>>>;
  /** Returns fields that follow from the call as a whole. */
  readonly derive?: (call: RemoteCall) => Readonly<Partial<Record<FieldOf<Id>, unknown>>>;
  /** Chooses another operation of the same fields. */
  readonly instead?: (call: RemoteCall) => OperationId | undefined;
  /**
   * Returns the name to type and the consequence; null when no confirmation is needed. By default a call that loses
   * something asks for a yes.
   */
  readonly confirm?: (target: CallTarget) => Confirmation | Promise<Confirmation>;
  readonly columns?: Columns<RowOf<Id>>;
  readonly empty?: string | ((target: CallTarget) => string);
  readonly record?: Facts<DataOf<Id>>;
  readonly done?: (data: DataOf<Id>, target: CallTarget) => string;
  readonly after?: (data: DataOf<Id>) => string;
  /** Printed to stderr after a record: a remark that does not belong in its output. */
  readonly remark?: (data: DataOf<Id>) => string;
}

type Confirmation = readonly [name: string, consequence: string] | null;

export function operationCommand<Id extends OperationId>(id: Id, spec: CommandSpec<Id>): RemoteCommand {
  const operation = operationDescription(id);
  const { name, summary = operation.summary, operands = [], flags = {}, columns, isAppOperand = false } = spec;
  const byFlag = Object.values(flags).map((flag) => (typeof flag === 'string' ? flag : flag.field));
  const inPath = operation.inPath.filter((parameter) => !byFlag.includes(parameter as FieldOf<Id>));
  const pathOperands = operandsOf(inPath, isAppOperand);
  const derived = flagsOf(operation, flags);

  function fieldsOf(call: RemoteCall): Record<string, unknown> {
    const fields: Record<string, unknown> = {
      ...spec.derive?.(call),
      ...fieldsFromFlags(call, name, operation, flags),
    };
    for (const [at, { field, words, isList }] of operands.entries()) {
      const typed = call.operands[pathOperands.length + at] ?? '';
      fields[field] = isList ? commaSeparated(typed) : (words?.[typed] ?? typed);
    }
    return fields;
  }

  async function targetOf(
    call: RemoteCall,
    { danger }: OperationDescription,
    unset: readonly string[],
  ): Promise<CallTarget> {
    const target: CallTarget = { call, ...(await resolvePath(call, unset, isAppOperand)) };
    if (!spec.confirm) {
      if (danger !== undefined) await call.confirm('yes', target.label === '' ? danger : `${target.label}: ${danger}`);
      return target;
    }
    const confirmation = await spec.confirm(target);
    if (!confirmation) return target;
    await call.confirm(...confirmation);
    return { ...target, label: confirmation[0] };
  }

  return remoteCommand({
    name,
    summary,
    operands: [
      ...pathOperands,
      ...operands.map(({ words, ...operand }) => ({ ...operand, ...(words && { words: Object.keys(words) }) })),
    ],
    options: { ...spec.options, ...derived.options },
    switches: { ...spec.switches, ...derived.switches },
    isOfApplication: operation.inPath.includes('id') && !isAppOperand && spec.options?.['app'] === undefined,
    isList: columns !== undefined,
    isFinal: spec.confirm !== undefined || operation.danger !== undefined,
    ...(spec.next && { next: spec.next }),
    async execute(call) {
      const { paging } = call;
      const fields = fieldsOf(call);
      if (operation.method === 'patch' && Object.keys(fields).every((field) => operation.inQuery.includes(field)))
        throw new UsageError(`Say what to change. See "gatehouse help ${name}".`);
      const called = operationDescription(spec.instead?.(call) ?? id);
      const unset = called.inPath.filter((parameter) => !(parameter in fields));
      const target = await targetOf(call, called, unset);
      const send = (page: object) => sendFields(call, called, { ...target.path, ...fields, ...page });
      if (!columns) return answer(call, spec, (await send({})) as DataOf<Id>, target);
      const page = (query: object) => send(query) as Promise<ListPage<RowOf<Id>>>;
      const empty = typeof spec.empty === 'function' ? spec.empty(target) : (spec.empty ?? 'Nothing.');
      await call.show.list({ columns, page, empty }, paging);
    },
  });
}

async function answer<Id extends OperationId>(
  { show, terminal }: RemoteCall,
  { record, done, after, remark }: CommandSpec<Id>,
  data: DataOf<Id>,
  target: CallTarget,
): Promise<void> {
  if (!record) return show.done(data, done?.(data, target) ?? 'Done.');
  await show.record(data, record);
  if (show.isJson) return;
  if (after) await show.say(`\n${after(data)}`);
  if (remark) terminal.err(`\n${remark(data)}\n`);
}

/** Sends fields to where the operation takes them: path, query or body. */
export async function sendFields(
  { client }: Pick<RemoteCall, 'client'>,
  { method, path: template, inPath, inQuery }: OperationDescription,
  fields: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const placed = Object.groupBy(Object.entries(fields), ([field]) =>
    inPath.includes(field) ? 'path' : inQuery.includes(field) ? 'query' : 'body',
  );
  const part = (place: keyof typeof placed) => Object.fromEntries(placed[place] ?? []);
  const given = { path: part('path'), query: part('query'), ...(placed.body && { body: part('body') }) };
  // The description of the operation replaces the static types of the path.
  const send = client[method] as (path: string, given: object) => Promise<unknown>;
  return send(template, given);
}
