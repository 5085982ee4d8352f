// Inline icons, so that nothing is loaded from the network.
const stroke = (path: string): string =>
  `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${path}</svg>`;

export const icons = {
  play: '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M4 2.5v11l9-5.5z"/></svg>',
  pause: '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z"/></svg>',
  repeat:
    '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M11 1l3 3-3 3V5H5.5A2.5 2.5 0 0 0 3 7.500H1.500A4 4 0 0 1 5.500 3.500H11zM5 15l-3-3 3-3v2h5.500A2.500 2.500 0 0 0 13 8.500h1.500a4 4 0 0 1-4 4H5z"/></svg>',
  pull: stroke('<path d="M8 12V5a2 2 0 0 1 4 0v6m0-1V4a2 2 0 0 1 4 0v8m-8 0-2-2a1.700 1.700 0 0 0-2.600 2.200L7 18c1.500 2 3 3 6 3 4 0 7-2 7-7V8a2 2 0 0 0-4 0"/>'),
  pose: stroke('<circle cx="12" cy="4.500" r="2"/><path d="M12 7v7m0-5 5-3m-5 3L7 6m5 8 4 6m-4-6-4 6"/>'),
  poke: stroke('<circle cx="15" cy="12" r="6"/><path d="M2 12h5m-2.500-3L8 12l-3.500 3"/>'),
  look: stroke('<path d="M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12z"/><circle cx="12" cy="12" r="3"/>'),
  shake: stroke('<path d="M7 4 4 8m0-4 3 4M17 20l3-4m0 4-3-4"/><path d="M6 14c3-6 4 4 7-2s3 2 5-2"/>'),
  joint: stroke('<circle cx="6" cy="18" r="2.500"/><circle cx="18" cy="6" r="2.500"/><path d="m8 16 8-8"/>'),
} as const;
