/** Whether the dialog that makes something new stands over a list: by its button, or by `?new=1` in the address. */
import { useState } from 'preact/hooks';
import { useFilters } from './address.ts';
import { useRights } from './rights.tsx';

interface Creation {
  readonly isOpen: boolean;
  open(): void;
  /** Takes it out of the address as well. */
  close(): void;
}

/** A link opens it for those alone who may make something, and also where the list is shown already. */
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
