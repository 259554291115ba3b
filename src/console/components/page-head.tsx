import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

interface PageHeadProps {
  readonly title: string;
  readonly lead?: ComponentChildren;
  /** Buttons, the most important last. */
  readonly actions?: ComponentChildren;
}

export function PageHead({ title, lead, actions }: PageHeadProps) {
  useEffect(() => {
    document.title = `${title} · Gatehouse`;
  }, [title]);
  return (
    <header class="page-head">
      <div>
        <h1>{breakable(title)}</h1>
        {lead && <p class="lead">{lead}</p>}
      </div>
      {actions && <div class="page-actions">{actions}</div>}
    </header>
  );
}

/** Lets the host and path of a URL break behind each slash instead of within a word. */
function breakable(title: string): ComponentChildren {
  return title.split(/(?<=\/)/).flatMap((part, index) => (index === 0 ? part : [<wbr />, part]));
}
