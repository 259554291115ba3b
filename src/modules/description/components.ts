/** Shared parts under `components` of the OpenAPI description, referred to by name. */

const KINDS = ['schemas', 'requestBodies', 'responses', 'parameters', 'headers', 'examples'] as const;
export type Kind = (typeof KINDS)[number];

export interface Reference {
  readonly $ref: string;
}

export class Components {
  readonly #parts = new Map<Kind, Map<string, object>>(KINDS.map((kind) => [kind, new Map()]));

  /** Adds a part and returns its reference. @throws {Error} if another part has this name: a mistake in the schemas. */
  share(kind: Kind, name: string, part: object): Reference {
    const parts = this.#parts.get(kind);
    const known = parts?.get(name);
    if (known && !Bun.deepEquals(known, part)) throw new Error(`two different ${kind} are named ${name}`);
    parts?.set(name, part);
    return { $ref: `#/components/${kind}/${name}` };
  }

  /** Returns whether the name is unused or names an equal part. */
  isFree(kind: Kind, name: string, part: object): boolean {
    const known = this.#parts.get(kind)?.get(name);
    return known === undefined || Bun.deepEquals(known, part);
  }

  sorted(): Record<string, Record<string, object>> {
    return Object.fromEntries(
      [...this.#parts].map(([kind, parts]) => [
        kind,
        Object.fromEntries([...parts].sort(([a], [b]) => (a < b ? -1 : 1))),
      ]),
    );
  }
}

/** Converts `sign_in` and `signIn` to `SignIn`. */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|[_-])(\w)/g, (_, letter: string) => letter.toUpperCase());
}
