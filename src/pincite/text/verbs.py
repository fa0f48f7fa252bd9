"""English verbs with which headings and sentences tell people to do something."""

from __future__ import annotations

# Hardly ever nouns at the head of a heading.
_VERBS = """
achieve activate add adjust adopt allow analyse analyze annotate apply approve assemble assess
assign attach authenticate automate avoid bind borrow bring browse build calculate calibrate cancel
choose clean clear close collect combine compare compile compose compute configure confirm connect
consume contribute convert cook create customise customize declare decode decommission define delete
deploy describe detach detect determine diagnose disable discover distribute downgrade embed enable
encode encrypt enforce ensure enter evaluate examine execute expand explain expose extend fetch
follow forecast generate give identify ignore implement improve initialise initialize inject insert
inspect install integrate interpret introduce invite invoke isolate learn listen locate maintain
manage migrate minimise minimize mitigate modify obtain optimise optimize organise organize perform
populate predict prepare preserve prevent promote protect provide publish rebuild receive recover
redeem reduce register remove rename renew reopen repair replace replicate require resize resolve
restart restore restrict resume retrieve revert revoke rewrite send serve shut simulate specify
steer submit subscribe summarise summarize suspend synchronise synchronize tell terminate transform
translate troubleshoot tune uninstall unlock validate verify visualise visualize write
"""
VERBS = frozenset(_VERBS.split())
# As often nouns: "Access control", "Test results".
_NOUNS = """
access audit backport bake book boost bootstrap change check claim clone contact control copy cut
debug display download drain draw drop edit escape estimate export extract fill find fit fix format
free get grant group handle hide hire host import increase join keep launch leave limit list load
lock log make measure merge monitor mount move name open order override pack paint park pause pay
pick plan print process produce provision pull purge push query raise read redirect refill report
request reset return reuse review roll rotate route run save scale schedule search secure select
separate set share show sort split start stop store supply support switch take test throw trace
track train transfer transport treat trust turn update upgrade upload use view visit wait warm wash
watch wire work wrap
"""
ALSO_NOUNS = frozenset(_NOUNS.split())
