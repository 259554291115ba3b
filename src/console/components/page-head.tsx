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
        <h1>{title}</h1>
        {lead && <p class="lead">{lead}</p>}
      </div>
      {actions && <div class="page-actions">{actions}</div>}
    </header>
  );
}
