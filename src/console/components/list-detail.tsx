/** List with the detail named in the address next to it; on narrow screens the detail covers the list. */
import { X } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { Icon } from '../../pages/components/icon.tsx';
import { useKeptScroll } from './kept-scroll.ts';

interface ListDetailProps {
  readonly list: ComponentChildren;
  readonly detail: ComponentChildren;
}

export function ListDetail({ list, detail }: ListDetailProps) {
  const side = useRef<HTMLDivElement>(null);
  useKeptScroll(side, Boolean(detail));
  return (
    <div class="list-detail" data-open={detail ? '' : undefined}>
      <div class="list-side" ref={side}>
        {list}
      </div>
      {detail}
    </div>
  );
}

interface DetailProps {
  /** Name of the record; focused on opening. */
  readonly title: ComponentChildren;
  readonly subtitle?: ComponentChildren;
  /** Address of the list with its filters, where closing leads. */
  readonly closeTo: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Detail panel. Escape closes it and returns focus to its row. Set a `key`, so that each record gets its own. */
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

/** Returns focus to the row of the closed detail, for keyboard users. */
function focusRow(): void {
  document.querySelector<HTMLElement>('.list-side tr[aria-current] .row-link')?.focus();
}

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
