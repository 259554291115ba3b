/** One user in another service's export, read field by field; every error names the place in the file and the field. */
import { plainHeading } from '../../../core/user-columns.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Texts that CSV exports of databases write for NULL. */
const NULLS = new Set(['', 'null', 'NULL', '\\N']);
const TRUE = new Set(['true', 't', '1', 'yes']);
const FALSE = new Set(['false', 'f', '0', 'no', '']);

/** Finds fields whatever their case and punctuation, as exports of one service differ: `emailVerified`, `email_verified`. */
export class ExportedRecord {
  readonly #fields: ReadonlyMap<string, unknown>;

  /** @param place such as `line 3`. */
  constructor(
    readonly place: string,
    fields: Fields,
  ) {
    this.#fields = new Map(Object.entries(fields).map(([name, value]) => [plainHeading(name), value]));
  }

  /** Returns the first non-empty of the fields; '' if there is none. @throws for another type than text or number. */
  text(...names: readonly string[]): string {
    for (const name of names) {
      const value = this.#value(name);
      if (typeof value === 'number') return String(value);
      if (value !== undefined && typeof value !== 'string') throw this.error(name, 'is no text');
      if (value !== undefined && value.trim() !== '') return value.trim();
    }
    return '';
  }

  /** @throws if there is none. */
  required(...names: readonly [string, ...string[]]): string {
    const text = this.text(...names);
    if (text === '') throw this.error(names[0], 'is missing');
    return text;
  }

  /** @param missing value of a missing field. @throws for anything but a boolean or its usual texts. */
  flag(name: string, missing = false): boolean {
    const value = this.#value(name) ?? missing;
    if (typeof value === 'boolean') return value;
    const text = String(value).toLowerCase();
    if (!TRUE.has(text) && !FALSE.has(text)) throw this.error(name, 'is neither true nor false');
    return TRUE.has(text);
  }

  /** Returns the first object of the fields, or of JSON in them; {} if there is none. @throws for anything else. */
  object(...names: readonly string[]): Fields {
    for (const name of names) {
      const value = this.#json(name);
      if (value === undefined) continue;
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.error(name, 'is no object');
      return value as Fields;
    }
    return {};
  }

  /** Returns the entries of a list, or of JSON that is one; [] if there is none. @throws for anything else. */
  list(name: string): readonly unknown[] {
    const value = this.#json(name) ?? [];
    if (!Array.isArray(value)) throw this.error(name, 'is no list');
    return value;
  }

  /** Returns objects of a list as records. @throws for anything else. */
  records(name: string): ExportedRecord[] {
    return this.list(name).map((entry, at) => {
      if (typeof entry !== 'object' || entry === null) throw this.error(`${name}[${at}]`, 'is no object');
      return new ExportedRecord(`${this.place}, ${name}[${at}]`, entry as Fields);
    });
  }

  error(field: string, problem: string): Error {
    return new Error(`${this.place}, ${field}: ${problem}`);
  }

  #value(name: string): unknown {
    const value = this.#fields.get(plainHeading(name));
    return value === null || (typeof value === 'string' && NULLS.has(value)) ? undefined : value;
  }

  #json(name: string): unknown {
    const value = this.#value(name);
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value) ?? undefined;
    } catch {
      throw this.error(name, 'is no JSON');
    }
  }
}
