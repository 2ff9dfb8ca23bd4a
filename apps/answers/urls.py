"""Doors of the answers API."""

from django.urls import URLPattern, path

urlpatterns: list[URLPattern] = []
