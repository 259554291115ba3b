/** Derives a command's flags from the fields of its operation: kind of value, accepted words, requirement and help. */
import { oneOf, type Option, UsageError } from '../arguments.ts';
import type { FieldDescription, OperationDescription } from './operations.ts';
import type { RemoteCall } from './remote-command.ts';

/** A flag that differs from what its field says. */
export interface FlagSpec<Field extends string> {
  readonly field: Field;
  /** Placeholder of the value. `YES/NO` makes a boolean field three-valued; without it, a boolean is a switch. */
  readonly value?: string;
  readonly meaning?: string;
  readonly convert?: (call: RemoteCall, flag: string) => unknown;
}

type Flags = Readonly<Record<string, string | FlagSpec<string>>>;

interface Flag extends FlagSpec<string> {
  readonly name: string;
  readonly of: FieldDescription;
}

export function flagsOf(operation: OperationDescription, flags: Flags) {
  const options: Record<string, Option> = {};
  const switches: Record<string, string> = {};
  for (const flag of flagList(operation, flags)) {
    const words = flag.of.enum ? `${oneOf(flag.of.enum)}.` : '';
    const meaning = flag.meaning ?? [words, flag.of.description?.replaceAll('`', '')].filter(Boolean).join(' ');
    if (isSwitch(flag)) switches[flag.name] = meaning;
    else options[flag.name] = { value: flag.value ?? flag.name.replace(/^.*-/, '').toUpperCase(), meaning };
  }
  return { options, switches };
}

/** Returns the fields that the flags of a call set. @throws {UsageError} */
export function fieldsFromFlags(
  call: RemoteCall,
  command: string,
  operation: OperationDescription,
  flags: Flags,
): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const flag of flagList(operation, flags)) {
    const value = valueOf(call, flag);
    if (value !== undefined) given[flag.field] = value;
    else if (operation.required.includes(flag.field) && !operation.inPath.includes(flag.field))
      throw new UsageError(`--${flag.name} is missing. See "gatehouse help ${command}".`);
  }
  return given;
}

function flagList({ fields }: OperationDescription, flags: Flags): Flag[] {
  return Object.entries(flags).map(([name, flag]) => {
    const spec = typeof flag === 'string' ? { field: flag } : flag;
    return { ...spec, name, of: fields[spec.field] ?? {} };
  });
}

const isSwitch = ({ of, value }: Flag) => of.type === 'boolean' && value === undefined;

function valueOf(call: RemoteCall, flag: Flag): unknown {
  const { name, of, convert } = flag;
  if (convert) return call.text(name) === undefined ? undefined : convert(call, name);
  if (isSwitch(flag)) return call.isOn(name) || undefined;
  if (of.type === 'boolean') {
    const word = call.choice(name, ['yes', 'no']);
    return word && word === 'yes';
  }
  if (of.enum) return call.choice(name, of.enum);
  if (of.type === 'integer') return call.number(name);
  if (of.type === 'array') return call.list(name);
  const isNullable = Array.isArray(of.type) && of.type.includes('null');
  return isNullable ? (call.text(name) === '' ? null : call.text(name)) : call.text(name);
}
