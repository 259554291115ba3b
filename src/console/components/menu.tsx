/** Row actions behind a button: a native popover with arrow key navigation. */
import { Ellipsis } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { Icon } from '../../pages/components/icon.tsx';
import { type Needs, useWhyNot } from '../console-context.tsx';

interface MenuProps {
  readonly label: string;
  readonly children: ComponentChildren;
}

export function Menu({ label, children }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);

  function position(): void {
    const at = button.current?.getBoundingClientRect();
    const menu = list.current;
    if (!at || !menu) return;
    const isBelow = at.bottom + menu.offsetHeight + 8 < innerHeight;
    menu.style.top = `${isBelow ? at.bottom + 4 : Math.max(8, at.top - menu.offsetHeight - 4)}px`;
    menu.style.left = `${Math.max(8, at.right - menu.offsetWidth)}px`;
    menu.querySelector<HTMLElement>('button:not(:disabled), a')?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    event.stopPropagation();
    const entries = [...(list.current?.querySelectorAll<HTMLElement>('button:not(:disabled), a') ?? [])];
    const step = event.key === 'ArrowDown' ? 1 : -1;
    const at = entries.indexOf(document.activeElement as HTMLElement);
    entries.at((at + step) % entries.length)?.focus();
  }

  return (
    <>
      <button
        class="icon-button"
        type="button"
        ref={button}
        aria-label={label}
        aria-haspopup="menu"
        {...{ popovertarget: id }}
      >
        <Icon of={Ellipsis} size={16} />
      </button>
      <div
        class="menu"
        id={id}
        ref={list}
        role="menu"
        popover="auto"
        onToggle={({ newState }) => newState === 'open' && position()}
        onKeyDown={onKeyDown}
        onClick={() => list.current?.hidePopover()}
      >
        {children}
      </div>
    </>
  );
}

interface MenuEntryProps {
  readonly isDanger?: boolean;
  readonly needs?: Needs;
  readonly onClick: () => unknown;
  readonly children: ComponentChildren;
}

export function MenuEntry({ isDanger = false, needs = 'write', onClick, children }: MenuEntryProps) {
  const whyNot = useWhyNot(needs);
  return (
    <button
      type="button"
      role="menuitem"
      data-danger={isDanger ? '' : undefined}
      disabled={whyNot !== undefined}
      title={whyNot}
      onClick={() => void onClick()}
    >
      {children}
    </button>
  );
}
