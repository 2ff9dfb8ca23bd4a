"""The demo: a stream of real questions through the site's own API, so that the dashboard is alive."""

from config.demo.oracle import Oracle
from config.demo.site import Site, SiteError
from config.demo.traffic import Traffic, read, traffic

__all__ = ["Oracle", "Site", "SiteError", "Traffic", "read", "traffic"]
