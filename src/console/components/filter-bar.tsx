/** Filters above a list, in one row. Where the list is too narrow for them, they collapse behind one button. */
import { ListFilter } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../pages/components/icon.tsx';
import type { Filters } from '../address.ts';

const NARROW_PX = 800;

interface FilterBarProps {
  /** Search field, which never collapses. */
  readonly search?: ComponentChildren;
  /** Number of set filters among `children`, shown on the button. */
  readonly active: number;
  /** Clears the filters among `children`. */
  readonly onClear: () => void;
  /** Called when the collapsed filters are opened. */
  readonly onOpen?: () => void;
  /** Width of the list in pixels below which the filters collapse; 800 by default. */
  readonly collapseBelow?: number;
  /** Controls at the end that never collapse. */
  readonly end?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Collapsing keeps the height, so that the list below does not move. Escape closes the opened filters. */
export function FilterBar({
  search,
  active,
  onClear,
  onOpen,
  collapseBelow = NARROW_PX,
  end,
  children,
}: FilterBarProps) {
  const id = useId();
  const bar = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [isCollapsed, setIsCollapsed] = useState(false);
  const [isOpen, setIsOpen] = useState(false);

  useLayoutEffect(() => {
    const element = bar.current;
    if (!element) return;
    const fit = () => setIsCollapsed(element.clientWidth < collapseBelow);
    fit();
    const observer = new ResizeObserver(fit);
    observer.observe(element);
    return () => observer.disconnect();
  }, [collapseBelow]);
  useEffect(() => {
    if (!isOpen) return;
    const closeOutside = ({ target }: PointerEvent) => {
      if (!bar.current?.contains(target as Node)) setIsOpen(false);
    };
    const closeByKey = ({ key }: KeyboardEvent) => key === 'Escape' && close();
    addEventListener('pointerdown', closeOutside);
    addEventListener('keydown', closeByKey);
    return () => {
      removeEventListener('pointerdown', closeOutside);
      removeEventListener('keydown', closeByKey);
    };
  }, [isOpen]);

  function close(): void {
    setIsOpen(false);
    button.current?.focus();
  }

  return (
    <div
      class="toolbar filter-bar"
      role="search"
      aria-label="Filters"
      ref={bar}
      data-collapsed={isCollapsed ? '' : undefined}
    >
      {search}
      {isCollapsed ? (
        <>
          <button
            class="button small filter-button"
            type="button"
            ref={button}
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => {
              if (!isOpen) onOpen?.();
              setIsOpen(!isOpen);
            }}
          >
            <Icon of={ListFilter} size={16} />
            <span>{active === 0 ? 'Filter' : `Filter (${active})`}</span>
          </button>
          <div class="filters" id={id} hidden={!isOpen}>
            {children}
            <div class="filter-actions">
              <button class="button small" type="button" disabled={active === 0} onClick={onClear}>
                Clear filters
              </button>
              <button class="button small" type="button" onClick={close}>
                Close
              </button>
            </div>
          </div>
        </>
      ) : (
        children
      )}
      {end && (
        <>
          <span class="spacer" />
          {end}
        </>
      )}
    </div>
  );
}

/** Returns the number of set filters among `names`. */
export function activeFilters<Name extends string>(filters: Filters<Name>, names: readonly Name[]): number {
  return names.filter((name) => filters[name]).length;
}
