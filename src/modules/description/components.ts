/** What stands once under `components` of the description and is referred to by name. */

const KINDS = ['schemas', 'requestBodies', 'responses', 'parameters', 'headers', 'examples'] as const;
export type Kind = (typeof KINDS)[number];

export interface Reference {
  readonly $ref: string;
}

/** Parts by kind and name, as they are met. */
export class Components {
  readonly #parts = new Map<Kind, Map<string, object>>(KINDS.map((kind) => [kind, new Map()]));

  /** @throws {Error} for two different things of one name: a mistake in the schemas. */
  share(kind: Kind, name: string, part: object): Reference {
    const parts = this.#parts.get(kind);
    const known = parts?.get(name);
    if (known && !Bun.deepEquals(known, part)) throw new Error(`two different ${kind} are named ${name}`);
    parts?.set(name, part);
    return { $ref: `#/components/${kind}/${name}` };
  }

  /** Whether this part can have the name: nobody has it, or the same does. */
  isFree(kind: Kind, name: string, part: object): boolean {
    const known = this.#parts.get(kind)?.get(name);
    return known === undefined || Bun.deepEquals(known, part);
  }

  /** In the order of their names. */
  sorted(): Record<string, Record<string, object>> {
    return Object.fromEntries(
      [...this.#parts].map(([kind, parts]) => [
        kind,
        Object.fromEntries([...parts].sort(([a], [b]) => (a < b ? -1 : 1))),
      ]),
    );
  }
}

/** `sign_in` and `signIn` as the name of a type: `SignIn`. */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|[_-])(\w)/g, (_, letter: string) => letter.toUpperCase());
}
