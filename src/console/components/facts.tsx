import type { ComponentChildren } from 'preact';

export type Fact = readonly [name: string, value: ComponentChildren];

export function Facts({ of }: { readonly of: readonly (Fact | null | false)[] }) {
  const known = of.filter(
    (fact): fact is Fact => Boolean(fact) && (fact as Fact)[1] !== null && (fact as Fact)[1] !== undefined,
  );
  return (
    <dl class="facts">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
