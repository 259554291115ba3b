/** A list, and beside it the detail that its address names; on narrow screens the detail lies over the list. */
import { X } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { Icon } from '../../pages/components/icon.tsx';

interface ListDetailProps {
  readonly list: ComponentChildren;
  /** Null where none is open. */
  readonly detail: ComponentChildren;
}

export function ListDetail({ list, detail }: ListDetailProps) {
  return (
    <div class="list-detail" data-open={detail ? '' : undefined}>
      <div class="list-side">{list}</div>
      {detail}
    </div>
  );
}

interface DetailProps {
  /** Of whom or what; has the focus when it opens. */
  readonly title: ComponentChildren;
  readonly subtitle?: ComponentChildren;
  /** Where closing leads: the list, with its filters. */
  readonly closeTo: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Escape closes it; the focus goes back to its row. Give it a key, so that another record is another panel. */
export function Detail({ title, subtitle, closeTo, actions, children }: DetailProps) {
  const [, navigate] = useLocation();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <aside
      class="detail"
      aria-labelledby="detail-title"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || (event.target as Element).closest('dialog')) return;
        focusRow();
        navigate(closeTo);
      }}
    >
      <header class="detail-head">
        <div>
          <h2 id="detail-title" tabIndex={-1} ref={heading}>
            {title}
          </h2>
          {subtitle && <p class="fine">{subtitle}</p>}
        </div>
        <Link class="icon-button" href={closeTo} aria-label="Close the detail" title="Close (Esc)" onClick={focusRow}>
          <Icon of={X} />
        </Link>
      </header>
      {actions && <div class="detail-actions">{actions}</div>}
      {children}
    </aside>
  );
}

/** Whoever goes through a list by its keys goes on where they were. */
function focusRow(): void {
  document.querySelector<HTMLElement>('.list-side tr[aria-current] .row-link')?.focus();
}

/** A part of a detail, with its heading. */
export function DetailPart({
  title,
  action,
  children,
}: {
  title: string;
  action?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="detail-part">
      <header>
        <h3>{title}</h3>
        {action}
      </header>
      {children}
    </section>
  );
}
