import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import type { Role } from '../api/session';
import type { IconName } from '../parts/Icon';

// Face is one part of the product: its own folder, its own chunk. Its component routes its own addresses with wouter's
// <Switch> and <Route>, which are whole paths like /console/statements/:id.
export interface Face {
  paths: string[]; // first segments of its addresses
  page: LazyExoticComponent<ComponentType>;
  open?: boolean; // shown without a session
  nav?: { to: string; label: string; icon: IconName; roles?: Role[] }; // without roles: for everybody
}

export const faces: Face[] = [
  { paths: ['chat'], page: lazy(() => import('../chat')), nav: { to: '/chat', label: 'Chat', icon: 'chat' } },
  { paths: ['schedules'], page: lazy(() => import('../schedules')), nav: { to: '/schedules', label: 'Schedules', icon: 'clock' } },
  { paths: ['guidelines'], page: lazy(() => import('../guidelines')), nav: { to: '/guidelines', label: 'Guidelines', icon: 'book' } },
  { paths: ['runs'], page: lazy(() => import('../guidelines/runs')), nav: { to: '/runs', label: 'Runs', icon: 'list' } },
  { paths: ['console'], page: lazy(() => import('../console')), nav: { to: '/console', label: 'Console', icon: 'terminal' } },
  { paths: ['people'], page: lazy(() => import('../people')), nav: { to: '/people', label: 'People', icon: 'people', roles: ['admin', 'auditor'] } },
  { paths: ['account'], page: lazy(() => import('../people/account')) },
  { paths: ['signin', 'welcome'], page: lazy(() => import('../people/entry')), open: true },
];
