export const USER_FILTERS = ['q', 'status', 'role', 'membership', 'sort', 'why'] as const;
