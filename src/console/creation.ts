/** State of a creation dialog, opened by a button or by `?new=1` in the address. */
import { useState } from 'preact/hooks';
import { useFilters } from './address.ts';
import { useRights } from './rights.tsx';

interface Creation {
  readonly isOpen: boolean;
  open(): void;
  /** Also removes `?new=1` from the address. */
  close(): void;
}

/** The address opens the dialog only for members who may write, even if the list is already shown. */
export function useCreation(): Creation {
  const { canWrite } = useRights();
  const [filters, setFilters] = useFilters(['new']);
  const [isPressed, setIsPressed] = useState(false);
  return {
    isOpen: isPressed || (canWrite && filters.new !== undefined),
    open: () => setIsPressed(true),
    close() {
      setIsPressed(false);
      if (filters.new !== undefined) setFilters({ new: undefined }, true);
    },
  };
}
