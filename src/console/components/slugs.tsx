interface SlugsProps {
  readonly of: readonly string[];
  /** Maximum shown; the rest is counted. */
  readonly shown?: number;
}

export function Slugs({ of: slugs, shown = slugs.length }: SlugsProps) {
  if (slugs.length === 0) return <span class="muted">None</span>;
  return (
    <ul class="slugs">
      {slugs.slice(0, shown).map((slug) => (
        <li key={slug}>{slug}</li>
      ))}
      {slugs.length > shown && <li title={slugs.slice(shown).join(', ')}>+{slugs.length - shown}</li>}
    </ul>
  );
}
