import { describe, expect, it } from "vitest";
import { decide, type Decision, type Patience, type Seen } from "../../sidecar/completion.ts";

const now = 1_000_000;
const patience: Patience = {
  deadline: undefined,
  startDeadlineMs: undefined,
  podGraceMs: 30_000,
  deliveryReserveMs: 10_000,
};
const nothing: Seen = {
  hasSocket: true,
  open: 0,
  seen: false,
  lastClosedAt: undefined,
  waitingSince: now - 60_000,
  markerSince: undefined,
  startedSince: undefined,
  interruptedAt: undefined,
};

describe("how a step ends (WV-7)", () => {
  it.each<{ name: string; seen?: Partial<Seen>; given?: Partial<Patience>; decision: Decision }>([
    { name: "waits without a sign", decision: { lookAgainAt: Infinity } },
    { name: "marker, nobody connected", seen: { markerSince: now }, decision: { over: "marker" } },
    {
      name: "marker, its writer gone",
      seen: { markerSince: now, seen: true, lastClosedAt: now },
      decision: { over: "marker" },
    },
    {
      name: "marker, still connected: five more seconds",
      seen: { markerSince: now - 1000, open: 1, seen: true },
      decision: { lookAgainAt: now + 4000 },
    },
    {
      name: "marker, connected for too long",
      seen: { markerSince: now - 5000, open: 1, seen: true },
      decision: { over: "marker" },
    },
    {
      name: "connection closed just now",
      seen: { seen: true, lastClosedAt: now - 400 },
      decision: { lookAgainAt: now + 600 },
    },
    {
      name: "connection closed for a second",
      seen: { seen: true, lastClosedAt: now - 1000 },
      decision: { over: "lost" },
    },
    {
      name: "started, never connected, young",
      seen: { startedSince: now - 9000 },
      decision: { lookAgainAt: now + 1000 },
    },
    {
      name: "started, never connected, old",
      seen: { startedSince: now - 10_000 },
      decision: { over: "lost" },
    },
    {
      name: "started, no socket to connect to: silence says nothing",
      seen: { startedSince: now - 99_000, hasSocket: false },
      decision: { lookAgainAt: Infinity },
    },
    {
      name: "started and connected",
      seen: { startedSince: now - 99_000, open: 1, seen: true },
      decision: { lookAgainAt: Infinity },
    },
    {
      name: "interrupted, nothing connected",
      seen: { interruptedAt: now },
      decision: { over: "interrupted" },
    },
    {
      name: "interrupted, connected: until the reserve",
      seen: { interruptedAt: now, open: 1, seen: true },
      decision: { lookAgainAt: now + 20_000 },
    },
    {
      name: "interrupted, connected, reserve reached",
      seen: { interruptedAt: now - 20_000, open: 1, seen: true },
      decision: { over: "interrupted" },
    },
    {
      name: "interrupted, marker stands",
      seen: { interruptedAt: now, markerSince: now },
      decision: { over: "marker" },
    },
    { name: "deadline ahead", given: { deadline: now + 5 }, decision: { lookAgainAt: now + 5 } },
    {
      name: "deadline passed while connected",
      given: { deadline: now },
      seen: { open: 1, seen: true },
      decision: { over: "deadline" },
    },
    {
      name: "never started",
      given: { startDeadlineMs: 60_000 },
      decision: { over: "never_started" },
    },
    {
      name: "start deadline ahead",
      given: { startDeadlineMs: 60_500 },
      decision: { lookAgainAt: now + 500 },
    },
    {
      name: "started in time",
      given: { startDeadlineMs: 1 },
      seen: { open: 1, seen: true },
      decision: { lookAgainAt: Infinity },
    },
  ])("$name", ({ seen = {}, given = {}, decision }) => {
    expect(decide({ ...nothing, ...seen }, { ...patience, ...given }, now)).toEqual(decision);
  });
});
